"""Plans: geometry, from shapes, dtypes and options to kernel calls; a plan holds no data."""
