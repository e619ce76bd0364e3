import { lstatSync } from "node:fs"
import { parentPort } from "node:worker_threads"
import { messageOf } from "../../model/message.ts"
import type { ToKeeper, FromKeeper } from "./code-index.ts"
import { Keeper } from "./keeper.ts"
import { Parsers } from "./parsers.ts"

/** Folders besides the workspace that were asked for by name; the ones asked longest ago are forgotten. */
const mostKeepers = 4
const restMs = 100

const port = parentPort!
const parsers = new Parsers()
parsers.warm()
const keepers = new Map<string, Keeper>()
const cancels = new Map<number, AbortController>()
const asking = new Map<number, (shown: readonly boolean[]) => void>()
let asked = 0
let turn: Promise<unknown> = Promise.resolve()
let filling: AbortController | undefined
let rest: NodeJS.Timeout | undefined

port.on("message", (message: ToKeeper) => {
  if (message.do === "cancel") return cancels.get(message.id)?.abort()
  if (message.do === "shown") {
    asking.get(message.id)?.(message.shown)
    return void asking.delete(message.id)
  }
  const cancel = new AbortController()
  cancels.set(message.id, cancel)
  filling?.abort()
  clearTimeout(rest)
  turn = turn.then(() => work(message, cancel.signal))
})

async function work(message: Extract<ToKeeper, { do: "find" | "paths" }>, signal: AbortSignal): Promise<void> {
  const { id } = message
  try {
    signal.throwIfAborted()
    const { keeper, below, prefix } = await keeperFor(message.workspace, message.path)
    if (message.do === "paths") say({ id, paths: keeper.paths(below).map((path) => prefix + path) })
    else {
      const only =
        message.only === undefined ? undefined : new Set(message.only.map((path) => path.slice(prefix.length)))
      const found = await keeper.find(message.search, { below, only }, signal)
      say({ id, found: { ...found, matches: found.matches.map((match) => ({ ...match, path: prefix + match.path })) } })
    }
  } catch (error) {
    say({ id, error: messageOf(error), mistake: error instanceof RangeError })
  } finally {
    cancels.delete(id)
    if (cancels.size === 0) rest = setTimeout(() => void fill(), restMs)
  }
}

/** The workspace's, unless what is asked for is not in it, or hidden or ignored there: that is looked at by itself. */
async function keeperFor(workspace: string, path: string): Promise<{ keeper: Keeper; below: string; prefix: string }> {
  if (!path.startsWith("/")) {
    const keeper = keeperOf(workspace, "", undefined)
    await keeper.look()
    if (keeper.has(path)) return { keeper, below: path, prefix: "" }
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
  const keeper = keeperOf(root, prefix, file)
  await keeper.look()
  return { keeper, below: file ?? ".", prefix }
}

function keeperOf(root: string, prefix: string, file: string | undefined): Keeper {
  const key = `${root}/${file ?? ""}`
  const keeper =
    keepers.get(key) ??
    new Keeper({
      root,
      file,
      parsing: parsers.of(root),
      shown: (paths) =>
        new Promise((resolve) => {
          asking.set(++asked, resolve)
          say({ asks: asked, paths: paths.map((path) => prefix + path) })
        }),
    })
  keepers.delete(key)
  keepers.set(key, keeper)
  for (const old of [...keepers.keys()].slice(0, -mostKeepers)) keepers.delete(old)
  return keeper
}

/** While nobody asks, what was not asked for yet is parsed too. */
async function fill(): Promise<void> {
  filling = new AbortController()
  const { signal } = filling
  for (const keeper of keepers.values()) while (!signal.aborted && (await keeper.fill(signal)));
}

function say(message: FromKeeper): void {
  port.postMessage(message)
}
