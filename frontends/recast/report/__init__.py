"""`simcore recast report`: how good the speech, the decoding and the parses of trace packs are.

`packs` reads them, `words` and `prefixes` judge one recording, `frames` collects that in tables,
`figures` makes rates with intervals of them, `tables`, `plots` and `markdown` show them, `write`
puts the report on disk.
"""
