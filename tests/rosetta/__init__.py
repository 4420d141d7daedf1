"""The calls of other libraries beside those of remapnd that do the same, as data.

`case` says what an entry is; `numerical`, `images`, `frameworks`, `standards` are the tables; `measure`
runs both sides of an entry and compares them; `lengths` does so for all pairs of lengths up to 69;
`page` makes docs/rosetta.md and the tables of docs/exactness.md out of what was measured. See `__main__`.
"""
