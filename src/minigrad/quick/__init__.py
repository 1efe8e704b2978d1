"""Quick forms of what is written elsewhere to be read: each module holds those of the module that it is named after.

`machine.overrides` puts a form into its place while no student's answer replaces what it stands for. A module asks for
its quick forms where it ends (`overrides.load_quick`). A module that shows answers names them in `SHOWS`, exercises or
whole modules of them: an edition without one of these has no such module, and computes as is written to be read.

Optimizers, loaders and layers stand by themselves and know no lesson. For which exercises their forms are quick ones,
say `optim`, `data` and `nn` here.
"""
