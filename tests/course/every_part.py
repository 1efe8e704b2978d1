"""Run in an edition without any answer: every part of the library, with all answers installed but one, for each one.

    python every_part.py FOLDER     the folder of the solved notebooks

It prints, as JSON, for each exercise that was left out (and for none) the exercises that the library then said are not
written, with the part that said so.
"""

import json
import sys
from pathlib import Path

import numpy as np

import minigrad as mg
from minigrad import Scalar, autograd, exercises, mlp, nn, optim
from minigrad.errors import ExerciseNotDone
from minigrad.nn import functional
from minigrad.tensors import creation


def leaf(*shape):
    return mg.tensor(np.random.default_rng(0).normal(size=shape), requires_grad=True)


def divisions():
    x, y = Scalar(3.0), Scalar(2.0)
    (x / y + 1.0 / x + x / 2.0 + y.log() + x.relu()).backward()
    assert (x.grad, y.grad) == (0.5 - 1.0 / 9.0 + 0.5 + 1.0, -0.75 + 0.5)


def second_derivatives():
    x, y = leaf(2), leaf(2)
    (first,) = autograd.grad((x / (y * y + 1.0)).sum(), y, create_graph=True)
    first.sum().backward()


def gradient_of_a_result():
    x = leaf(2, 3)
    y = x * 2.0
    found, unused = autograd.grad((y * y).sum(), [y, leaf(1)], allow_unused=True)
    assert found.shape == (2, 3) and unused is None and x.grad is None


def several_results():
    x = leaf(3)
    autograd.backward([(x * x).sum(), (x + 1.0).sum()])
    assert np.allclose(x.grad.numpy(), 2.0 * x.detach().numpy() + 1.0)


def probabilities():
    x = leaf(2, 3)
    for result in (x.softmax(1), x.log_softmax(0), x.logsumexp((0, 1)), x.logsumexp(1, keepdim=True)):
        result.sum().backward()
    e = np.exp(x.detach().numpy())
    assert np.allclose(x.logsumexp((0, 1)).item(), np.log(e.sum()))
    functional.cross_entropy(x, mg.tensor([0, 2])).backward()


def pools_of_any_windows():
    x = leaf(1, 2, 6, 6)
    for pool in (functional.avg_pool2d, functional.max_pool2d):
        (pool(x, 2) ** 2).sum().backward()
        (pool(x, 3, stride=2, padding=1) ** 2).sum().backward()
    a = x.detach().numpy()[0, 0]
    assert np.allclose(functional.avg_pool2d(x, 3, 2, 1)[0, 0, 0, 0].item(), a[:2, :2].sum() / 9.0)
    assert np.allclose(functional.max_pool2d(x, 3, 2, 1)[0, 0, 1, 1].item(), a[1:4, 1:4].max())


def convolutions():
    x, weight = leaf(1, 2, 4, 4), leaf(2, 2, 3, 3)
    functional.conv2d(x, weight, padding=1).sum().backward()
    functional.conv1d(leaf(1, 2, 5), leaf(2, 2, 3), stride=2).sum().backward()


def network_of_scalars():
    model = mlp.MLP((2, 3), seed=1)
    optimizer = mlp.SGD(model.parameters(), lr=0.1)
    model([0.5, 0.25]).relu().backward()
    optimizer.step()


def step_of_training():
    model = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Dropout(0.5), nn.Linear(4, 2))
    optimizer = optim.Adam(model.parameters())
    functional.cross_entropy(model(leaf(5, 3)), mg.tensor([0, 1, 0, 1, 1])).backward()
    optimizer.step()


PARTS = {
    "arithmetic of scalars": lambda: (Scalar(2.0) * 3.0 - 1.0).backward(),
    "divisions": divisions,
    "arithmetic of tensors": lambda: ((leaf(2, 3) * leaf(3) - 1.0) / leaf(2, 1)).sum().backward(),
    "functions": lambda: (leaf(2).exp().log().sigmoid().relu() + leaf(2) ** 2.0).sum().backward(),
    "reductions": lambda: (leaf(2, 3).sum(0).mean() + leaf(2, 3).amax(1).sum() + leaf(2).max()).backward(),
    "views": lambda: leaf(2, 3, 4).permute(2, 0, 1).reshape(4, 6)[1:, 2].sum().backward(),
    "products": lambda: (leaf(2, 3) @ leaf(3, 4)).sum().backward(),
    "stacks of products": lambda: (leaf(5, 2, 3) @ leaf(1, 3, 4)).sum().backward(),
    "joining": lambda: creation.cat([leaf(2, 3), leaf(1, 3)]).sum().backward(),
    "second derivatives": second_derivatives,
    "gradient of a result": gradient_of_a_result,
    "several results": several_results,
    "gradcheck": lambda: autograd.gradcheck(lambda x, y: x / y, (leaf(2, 1), leaf(2))),
    "gradgradcheck": lambda: autograd.gradgradcheck(lambda x: x * x * x, (leaf(2),)),
    "probabilities": probabilities,
    "pools": pools_of_any_windows,
    "convolutions": convolutions,
    "a network of scalars": network_of_scalars,
    "a step of training": step_of_training,
}


def answers_in(folder):
    """Return the answers in the notebooks of a folder, by exercise."""
    answers = {}
    for lesson in dict.fromkeys(each.lesson for each in exercises.catalogue().values()):
        namespace = exercises.namespace_of(folder / f"{lesson}.ipynb")
        ids = [each.id for each in exercises.catalogue().values() if each.lesson == lesson]
        answers |= {id: exercises.collect(id, namespace) for id in ids}
    return answers


def not_written(answers, left_out):
    """Return what each part says is not written, with all answers in the library but one."""
    installed = [exercises.install(objects) for id, objects in answers.items() if id != left_out]
    said = {}
    for name, part in PARTS.items():
        try:
            part()
        except ExerciseNotDone as error:
            said[name] = error.exercise
        except Exception as error:
            said[name] = f"{type(error).__name__}: {error}"
    for each in reversed(installed):
        each.undo()
    return said


if __name__ == "__main__":
    answers = answers_in(Path(sys.argv[1]))
    mg.set_default_dtype(np.float64)
    mg.backend("python")
    print(json.dumps({id or "": not_written(answers, id) for id in (None, *answers)}))
