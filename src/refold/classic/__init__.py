"""The documents' own engine: an ordered list of rules decides on each text, and one table on data.

Start reading in `compress`.
"""
