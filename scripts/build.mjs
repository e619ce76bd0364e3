// Builds two folders. dist is what is published: the library in a few files, the command line as one file, the web console.
// build has every module as a file of its own, for tests, benchmarks and a debugger. `--if-needed` does nothing if no
// source has changed, `--maps` adds source maps to build. The console is built only when its own sources changed.
import { execFile, execFileSync } from "node:child_process"
import { createHash } from "node:crypto"
import {
  chmodSync,
  copyFileSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join, relative, resolve } from "node:path"
import { promisify } from "node:util"
import { build } from "esbuild"

/** Packages that stay outside the bundle: only some commands need them, or they load files of their own. */
const external = [
  "@ai-sdk/anthropic",
  "@ai-sdk/google",
  "@ai-sdk/openai-compatible",
  "@jitl/quickjs-wasmfile-release-sync",
  "@mozilla/readability",
  "@photostructure/sqlite",
  "@vscode/ripgrep",
  "ajv",
  "ajv-formats",
  "chardet",
  "diff",
  "iconv-lite",
  "ignore",
  "image-size",
  "jpeg-js",
  "linkedom",
  "pg",
  "playwright-core",
  "quickjs-emscripten-core",
  "re2js",
  "turndown",
  "unbash",
  "undici",
  "unpdf",
  "web-tree-sitter",
]

const fresh = `dist.${process.pid}.tmp`
const freshModules = `build.${process.pid}.tmp`

/** What the package exports, as the name of the file in dist and its source. */
const entries = Object.entries(JSON.parse(readFileSync("package.json", "utf8")).exports)
  .filter(([, target]) => typeof target === "object")
  .map(([, { types, default: file }]) => ({
    file: relative("dist", file).replace(/\.js$/, ""),
    source: join("src", relative("dist/types", types)).replace(/\.d\.ts$/, ".ts"),
    types: relative("dist", types),
  }))

/** Files that run in a thread or process of their own, started by their place in dist. */
const workers = [
  "platform/code/index-worker",
  "platform/code/parser-worker",
  "platform/database/sqlite-process",
  "platform/javascript/script-worker",
  "platform/web/page-worker",
  "store/sqlite/journal-mover-worker",
  "platform/pdf/pdf-worker",
]

/**
 * Rewrites our sources for a bundle. `import.meta.url` becomes the place that the module would have in dist, seen from
 * `root`, so that files find their workers.
 */
const ownSources = (root, replacements = []) => ({
  name: "own sources",
  setup({ onLoad, onEnd }) {
    const found = new Set()
    onLoad({ filter: /\/src\/.*\.ts$/ }, ({ path }) => {
      const place = relative("src", path).replace(/\.ts$/, ".js")
      let text = readFileSync(path, "utf8")
      for (const [old, replacement] of replacements) {
        if (text.includes(old)) found.add(old)
        text = text.replaceAll(old, replacement)
      }
      const url = `new URL(${JSON.stringify(place)}, ${root}).href`
      return { loader: "ts", contents: text.replaceAll("import.meta.url", url) }
    })
    onEnd(() => {
      const gone = replacements.map(([old]) => old).filter((old) => !found.has(old))
      if (gone.length > 0)
        throw new Error(`No source has this text any more, so it was not replaced: ${gone.join(", ")}`)
    })
  },
})

/** Replacements for the command line. */
const forOneFile = [
  // This would include Zod's 40 languages, the other only what is used: 350 KB less to read.
  ['import { z } from "zod"', 'import * as z from "zod"'],
  // The path of a plugin is known only at run time, so esbuild must leave this import alone.
  ["return import(address)", "return __import(address)"],
]

if (!(process.argv.includes("--if-needed") && isUpToDate())) {
  console.error("Building Quartermaster: about ten seconds, a minute on a slow machine.")
  console.error("1 of 3: the library")
  const builtConsole = buildConsole()
  try {
    const tsc = ["node_modules/typescript/bin/tsc", "-p", "tsconfig.build.json", "--outDir", freshModules]
    tsc.push("--declarationDir", join(fresh, "types"))
    if (process.argv.includes("--maps")) tsc.push("--sourceMap")
    execFileSync(process.execPath, tsc, { stdio: "inherit" })
    removePrivateTypes()
    copyShellGrammar()
    await bundleLibrary()
    console.error("2 of 3: the command line")
    await bundle()
    await bundleThin()
    await bundleModelServer()
    console.error("3 of 3: the console")
    await builtConsole
    swap(freshModules, "build")
    swap(fresh, "dist")
  } catch (error) {
    // tsc has already printed its errors.
    if (error.status === undefined) console.error(error)
    process.exitCode = 1
  } finally {
    await builtConsole.catch(() => {})
    for (const folder of [fresh, freshModules]) rmSync(folder, { recursive: true, force: true })
  }
}

/** Removes the declarations that the public types do not lead to: seven of eight. */
function removePrivateTypes() {
  const reached = new Set()
  const follow = (file) => {
    if (reached.has(file)) return
    reached.add(file)
    for (const [, next] of readFileSync(file, "utf8").matchAll(/"(\.[^"]*)\.[jt]s"/g))
      follow(join(file, "..", `${next}.d.ts`))
  }
  const files = entries.map(({ types }) => join(fresh, types))
  for (const file of files) follow(file)
  // TypeScript includes Node's types only where it is told to, and the public types use them.
  for (const file of files) writeFileSync(file, `/// <reference types="node" />\n${readFileSync(file, "utf8")}`)
  for (const name of readdirSync(fresh, { recursive: true })) {
    const file = join(fresh, name)
    if (file.endsWith(".d.ts") && !reached.has(file)) rmSync(file)
  }
}

/**
 * Bundles the library into one file for each entry, and chunks that they share, all side by side in dist. A program reads
 * 30 files instead of 1,100, and what is imported when it is used stays a chunk of its own. Packages stay outside.
 */
async function bundleLibrary() {
  const common = {
    bundle: true,
    platform: "node",
    format: "esm",
    target: "node20",
    packages: "external",
    outdir: fresh,
  }
  await build({
    ...common,
    entryPoints: Object.fromEntries(entries.map(({ file, source }) => [file, source])),
    chunkNames: "chunk-[hash]",
    splitting: true,
    minifySyntax: true,
    legalComments: "none",
    plugins: [ownSources("import.meta.url")],
    logLevel: "warning",
  })
  for (const worker of workers) {
    const root = JSON.stringify("../".repeat(worker.split("/").length - 1))
    await build({
      ...common,
      entryPoints: { [worker]: join("src", `${worker}.ts`) },
      plugins: [ownSources(`new URL(${root}, import.meta.url)`)],
      logLevel: "warning",
    })
  }
}

/** Copies the one file needed of a package of 20 MB, so that nobody has to install the rest. */
function copyShellGrammar() {
  const folder = join(fresh, "guards/commands")
  mkdirSync(folder, { recursive: true })
  copyFileSync("node_modules/tree-sitter-bash/tree-sitter-bash.wasm", join(folder, "tree-sitter-bash.wasm"))
  copyFileSync("node_modules/tree-sitter-bash/LICENSE", join(folder, "tree-sitter-bash.LICENSE"))
}

/** Builds the console beside the compiler, or takes the one that was built from the same sources. */
async function buildConsole() {
  const target = resolve(fresh, "console")
  const built = "dist/console"
  if (isNewest(join(built, "index.html"), consoleSources()))
    return cpSync(built, target, { recursive: true, preserveTimestamps: true })
  const vite = ["node_modules/vite/bin/vite.js", "build", "console", "--outDir", target, "--logLevel", "warn"]
  const { stderr } = await promisify(execFile)(process.execPath, vite)
  process.stderr.write(stderr)
}

/** The files of the console, and the modules of ours that it uses. */
function consoleSources() {
  const files = ["index.html", "vite.config.ts", "tsconfig.json"].map((name) => join("console", name))
  for (const folder of ["console/src", "console/public"])
    files.push(...readdirSync(folder, { recursive: true }).map((name) => join(folder, name)))
  const found = new Set([...files, "package-lock.json"])
  for (const file of found) {
    if (!/\.tsx?$/.test(file)) continue
    for (const [, path] of readFileSync(file, "utf8").matchAll(/^(?:import|export) (?!type )[^"]*?from "(\.[^"]+)"/gm))
      found.add(join(dirname(file), path))
  }
  return [...found]
}

/** Bundles the command line into one file, whose modules run when first imported, and stores V8's code cache of it. */
async function bundle() {
  const { outputFiles } = await build({
    entryPoints: ["src/bin.ts"],
    write: false,
    bundle: true,
    platform: "node",
    format: "cjs",
    target: "node20",
    supported: { "dynamic-import": false },
    minify: true,
    define: { "import.meta.url": "__url" },
    external,
    plugins: [ownSources("__url", forOneFile)],
    banner: { js: "(function (require, __url, __import) {" },
    footer: { js: "})" },
    logLevel: "warning",
  })
  const code = outputFiles[0].text
  // The launcher reads it as Latin-1. esbuild escapes strings, but not regular expressions or tagged templates.
  const [odd] = /.{0,40}[^\0-\x7f].{0,40}/.exec(code) ?? []
  if (odd !== undefined)
    throw new Error(
      `The bundle is not ASCII: ${odd}. Write \\u escapes or HTML entities, or put the text into a string.`,
    )
  const cache = `qm.${createHash("sha256").update(code).digest("hex").slice(0, 16)}`
  writeFileSync(join(fresh, "qm.cjs"), code)
  writeFileSync(join(fresh, "qm.js"), launcher(cache))
  chmodSync(join(fresh, "qm.js"), 0o755)
  warmUp(cache)
}

/** The entries of `qm hook` and `qm mcp`, which must be there at once: the few modules of each as one file. */
async function bundleThin() {
  const commands = "src/interfaces/cli/commands"
  const entryPoints = { hook: `${commands}/hook/thin-hook.ts`, mcp: `${commands}/mcp/thin-mcp.ts` }
  const options = { bundle: true, platform: "node", format: "esm", target: "node20", minify: true }
  await build({ ...options, entryPoints, outdir: fresh, logLevel: "warning" })
}

/** The model server of our tests as one file, for the examples. */
async function bundleModelServer() {
  const entryPoints = ["src/agents/testing/model-server.ts"]
  const outfile = join(fresh, "model-server.js")
  await build({ entryPoints, outfile, bundle: true, platform: "node", format: "esm", logLevel: "warning" })
}

/**
 * A script that starts the command line with V8's code cache of this code and this Node.js. Where there is none, as in an
 * installed package, the first `qm call` stores it.
 */
function launcher(cache) {
  return `#!/usr/bin/env node
import * as fs from "node:fs"
import { createRequire } from "node:module"
import { Script } from "node:vm"

const here = (name) => new URL(name, import.meta.url)
if (process.argv[2] === "hook" && (await runHook())) process.exit()
if (process.argv[process.argv[2] === "-C" ? 4 : 2] === "mcp" && (await runMcp())) process.exit()
const cache = here(\`${cache}-\${process.version}-\${process.arch}.cache\`)
const cachedData = fs.existsSync(cache) ? fs.readFileSync(cache) : undefined
const script = new Script(fs.readFileSync(here("qm.cjs"), "latin1"), { filename: "qm.cjs", cachedData })
script.runInThisContext()(createRequire(import.meta.url), import.meta.url, (address) => import(address))
if (cachedData === undefined && process.argv[2] === "call") process.once("exit", store)

/** An agent takes only some exit codes for a no, so whatever goes wrong ends with this one. */
async function runHook() {
  const refuse = (error) => {
    fs.writeSync(2, \`NOT EXECUTED. The hook of Quartermaster failed: \${error?.message ?? error}. A person finds out more with 'qm doctor'.\\n\`)
    process.exit(process.argv.includes("--fail-open") ? 0 : 2)
  }
  process.on("uncaughtException", refuse)
  try {
    const { runThinHook } = await import("./hook.js")
    return await runThinHook(process.argv.slice(3))
  } catch (error) {
    return refuse(error)
  }
}

/** Passes messages on to a server of the project. False where none runs. */
async function runMcp() {
  const from = process.cwd()
  const words = process.argv.slice(2)
  try {
    if (words[0] === "-C") process.chdir(words[1])
    const { runThinMcp } = await import("./mcp.js")
    if (await runThinMcp(words.slice(words[0] === "-C" ? 3 : 1))) return true
  } catch {
    // The whole command line says what is wrong.
  }
  process.chdir(from)
  return false
}

function store() {
  const unfinished = here(\`\${process.pid}.cache\`)
  try {
    fs.writeFileSync(unfinished, script.createCachedData())
    fs.renameSync(unfinished, cache)
  } catch {
    // This user may not write here, so the next start is as slow as this one.
  }
}
`
}

/** Makes two calls. The first creates the database; the cache is stored for what every later call runs. */
function warmUp(cache) {
  const folder = mkdtempSync(join(tmpdir(), "quartermaster-build-"))
  const environment = { PATH: process.env.PATH, HOME: folder }
  const options = { cwd: folder, env: environment, stdio: ["ignore", "ignore", "inherit"] }
  try {
    for (const _ of [1, 2]) {
      rmSync(join(fresh, `${cache}-${process.version}-${process.arch}.cache`), { force: true })
      execFileSync(
        process.execPath,
        [resolve(fresh, "qm.js"), "call", "base64_encode", "text=hello", "--json"],
        options,
      )
    }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Replaces a folder only when the new one is complete, so that a failed build breaks nothing. */
function swap(from, to) {
  const old = `${from}.old`
  try {
    renameSync(to, old)
  } catch (error) {
    if (error.code !== "ENOENT") throw error
  }
  try {
    renameSync(from, to)
  } catch (error) {
    // Another build finished at the same time.
    if (error.code !== "ENOTEMPTY") throw error
    rmSync(to, { recursive: true, force: true })
    renameSync(from, to)
  }
  rmSync(old, { recursive: true, force: true })
}

function isUpToDate() {
  const sources = readdirSync("src", { recursive: true }).map((name) => join("src", name))
  const others = ["package-lock.json", "tsconfig.json", "tsconfig.build.json", "package.json", "scripts/build.mjs"]
  return isNewest("dist/qm.js", [...sources, ...others, ...consoleSources()])
}

/** Whether a built file is there and no source is newer. */
function isNewest(built, sources) {
  const time = statSync(built, { throwIfNoEntry: false })?.mtimeMs
  return time !== undefined && sources.every((path) => statSync(path).mtimeMs <= time)
}
