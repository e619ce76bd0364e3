import { lstatSync } from "node:fs"
import { parentPort } from "node:worker_threads"
import { errorMessage } from "../../lib/error-message.ts"
import type { ToIndexWorker, FromIndexWorker } from "./code-index.ts"
import { FolderIndex } from "./folder-index.ts"
import { ParserPool } from "./parser-pool.ts"

/** Limit of folders with an index. The least recently used is forgotten. */
const maxIndexes = 4
const idleMs = 100

const port = parentPort!
const parsers = new ParserPool()
parsers.warm()
const indexes = new Map<string, FolderIndex>()
const cancels = new Map<number, AbortController>()
const pendingQuestions = new Map<number, (shown: readonly boolean[]) => void>()
let lastQuestion = 0
let queue: Promise<unknown> = Promise.resolve()
let filling: AbortController | undefined
let idleTimer: NodeJS.Timeout | undefined

port.on("message", (message: ToIndexWorker) => {
  if (message.do === "cancel") return cancels.get(message.id)?.abort()
  if (message.do === "shown") {
    pendingQuestions.get(message.id)?.(message.shown)
    return void pendingQuestions.delete(message.id)
  }
  const cancel = new AbortController()
  cancels.set(message.id, cancel)
  filling?.abort()
  clearTimeout(idleTimer)
  queue = queue.then(() => work(message, cancel.signal))
})

async function work(message: Extract<ToIndexWorker, { do: "find" | "paths" }>, signal: AbortSignal): Promise<void> {
  const { id } = message
  try {
    signal.throwIfAborted()
    const { index, below, prefix } = await indexFor(message.workspace, message.path)
    if (message.do === "paths") post({ id, paths: index.paths(below).map((path) => prefix + path) })
    else {
      const only =
        message.only === undefined ? undefined : new Set(message.only.map((path) => path.slice(prefix.length)))
      const found = await index.find(message.search, { below, only }, signal)
      post({
        id,
        found: { ...found, matches: found.matches.map((match) => ({ ...match, path: prefix + match.path })) },
      })
    }
  } catch (error) {
    post({ id, error: errorMessage(error), mistake: error instanceof RangeError })
  } finally {
    cancels.delete(id)
    if (cancels.size === 0) idleTimer = setTimeout(() => void fill(), idleMs)
  }
}

/** The index of the workspace. A path that is not in it (outside, hidden or ignored) gets its own index. */
async function indexFor(
  workspace: string,
  path: string,
): Promise<{ index: FolderIndex; below: string; prefix: string }> {
  if (!path.startsWith("/")) {
    const index = openIndex(workspace, "", undefined)
    await index.refresh()
    if (index.has(path)) return { index, below: path, prefix: "" }
  }
  const full = path.startsWith("/") ? path : `${workspace}/${path}`
  const isFolder = lstatSync(full).isDirectory()
  const cut = full.lastIndexOf("/")
  const root = isFolder ? full : full.slice(0, cut)
  const prefix = root.startsWith(`${workspace}/`)
    ? `${root.slice(workspace.length + 1)}/`
    : root === workspace
      ? ""
      : `${root}/`
  const file = isFolder ? undefined : full.slice(cut + 1)
  const index = openIndex(root, prefix, file)
  await index.refresh()
  return { index, below: file ?? ".", prefix }
}

function openIndex(root: string, prefix: string, file: string | undefined): FolderIndex {
  const key = `${root}/${file ?? ""}`
  const index =
    indexes.get(key) ??
    new FolderIndex({
      root,
      file,
      parsing: parsers.forRoot(root),
      shown: (paths) =>
        new Promise((resolve) => {
          pendingQuestions.set(++lastQuestion, resolve)
          post({ asks: lastQuestion, paths: paths.map((path) => prefix + path) })
        }),
    })
  indexes.delete(key)
  indexes.set(key, index)
  for (const old of [...indexes.keys()].slice(0, -maxIndexes)) indexes.delete(old)
  return index
}

/** Parses remaining files while there are no searches. */
async function fill(): Promise<void> {
  filling = new AbortController()
  const { signal } = filling
  for (const index of indexes.values()) while (!signal.aborted && (await index.parseRemaining(signal)));
}

function post(message: FromIndexWorker): void {
  port.postMessage(message)
}
