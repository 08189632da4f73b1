"""The rules compared here, one file each. They are decisions only: no clock, no files."""
