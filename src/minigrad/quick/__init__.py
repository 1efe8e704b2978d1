"""Quick forms of what is written elsewhere to be read: each module holds those of the module that it is named after.

`minigrad.standing_aside.twin` puts a form into its place while no student's answer replaces what it stands for. Where
a module ends, it asks for its quick forms (`standing_aside.load_quick`). An edition for a class leaves them out by file
or by name, since they show answers; the library then computes as it is written to be read.
"""
