"""The benchmark: remapnd and its peers on the same work, checked and then timed in turn.

`cases` is the table; `run` goes through it; `report` and `picture` show the results. Nothing else in the
package imports it, but for the sub-command `remapnd bench`.
"""
