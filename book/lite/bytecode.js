// node bytecode.js FOLDER CELLS: let the Python of a site put bytecode into its archives (bytecode.py).

const [folder, cells] = process.argv.slice(2);
const { loadPyodide } = require(`${folder}/pyodide.js`);
const { packages } = require(`${folder}/pyodide-lock.json`);

(async () => {
  const python = await loadPyodide({ indexURL: folder, packages: Object.keys(packages) });
  python.mountNodeFS("/site", folder);
  python.mountNodeFS("/book", __dirname);
  python.runPython("import sys; sys.path.append('/book')");
  python.pyimport("bytecode").add("/site", python.toPy(JSON.parse(cells)));
})().catch((error) => {
  console.error(error.message.trim().split("\n").at(-1));
  process.exitCode = 1;
});
