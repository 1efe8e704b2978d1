"""Quick forms of what is written elsewhere to be read: each module holds those of the module that it is named after.

`machine.overrides` puts a form into its place while no student's answer replaces what it stands for. A module asks for
its quick forms where it ends (`overrides.load_quick`). An edition for a class leaves them out, by file or by name,
since they show answers; the library then computes as it is written to be read.

Optimizers, loaders and layers stand by themselves and know no lesson. For which exercises their forms are quick ones,
say `optim`, `data` and `nn` here.
"""
