// A house in a process of its own, for tests. It reads one order a line and prints one answer a line; what an answer tells
// was kept before the answer was printed. The first argument is what it is opened with; see house-process.ts.
import { appendFileSync, fsyncSync, openSync, writeSync } from "node:fs"
import { hostname } from "node:os"
import { join } from "node:path"
import { createInterface } from "node:readline"
import { z } from "zod"
import { createQuartermaster, defineTool } from "../../../dist/index.js"
import { newId } from "../../../dist/model/identity.js"
import { silentLogger } from "../../../dist/model/logger.js"
import { Journal } from "../../../dist/store/journal.js"
import { recordKey } from "../../../dist/store/key.js"
import { ownerName } from "../../../dist/store/owner.js"
import { openStore } from "../../../dist/store/store.js"

const { dir, config, options, tools } = JSON.parse(process.argv[2])
const marks = openSync(join(dir, "marks"), "a")
const house = await createQuartermaster(
  { ...config, data: { ...config.data, dir: join(dir, "data") } },
  { workspace: dir, ...options },
)
for (const spec of tools) house.registry.register(markTool(spec))
house.on("TOOL_CALL_WAITING", ({ callId, toolName }) => print({ waiting: callId, tool: toolName }))

/** What a test asks for that is not a door of the house itself. */
const orders = {
  /** From here on the failpoint counts. */
  arm: (path) => appendFileSync(path, ""),
  exported: async (filter) => {
    const found = []
    for await (const call of house.audit.export(filter)) found.push(call)
    return found
  },
  /** Waits until the moment, then does the order: two processes that are given the same moment meet. */
  at: async (moment, name, given) => {
    while (Date.now() < moment);
    const began = performance.timeOrigin + performance.now()
    const value = await orderOf(name)(...given)
    return { value, began, ended: performance.timeOrigin + performance.now() }
  },
  orphans: (count) => Promise.all(Array.from({ length: count }, orphan)),
  /** One entry of so many megabytes, in a journal beside the house's own. */
  keep: async (callId, megabytes) => {
    beside ??= openStore({ dataDir: join(dir, "data"), owner: ownerName(), logger: silentLogger, writes: "journal" })
    const text = "x".repeat(megabytes * 1024 * 1024)
    await (await beside).recorder.keep({ kind: "note", callId, at: Date.now(), text }, "crash")
  },
}

let beside

/** The journal of a process that is long gone, with a call it had started. */
async function orphan() {
  const key = recordKey(join(dir, "data"))
  const journal = new Journal(join(dir, "data", "journal"), key, `${hostname()}|${2 ** 22}|0|${newId()}`, () => {})
  const callId = newId()
  await journal.keep({ kind: "start", callId, at: Date.now(), agentId: "operator", tool: "orphan" }, "crash")
  journal.close()
  return callId
}

print({ ready: true })
const lines = createInterface({ input: process.stdin })
lines.on("close", () => process.exit()) // Whoever gives the orders is gone.
lines.on("line", (line) => void obey(JSON.parse(line)))

async function obey({ id, name, given }) {
  try {
    print({ id, value: await orderOf(name)(...given) })
  } catch (error) {
    print({ id, error: error instanceof Error ? error.message : String(error) })
  }
}

function orderOf(name) {
  if (orders[name] !== undefined) return orders[name]
  const steps = name.split(".")
  const last = steps.pop()
  const owner = steps.reduce((object, step) => object[step], house)
  return (...given) => owner[last](...given)
}

/** Leaves a synced mark each time it is run: the call's id, and what it was given. */
function markTool(spec) {
  return defineTool({
    group: "data",
    description: "Leaves a mark.",
    effect: "write",
    input: z.object({ note: z.string(), pauseMs: z.number().optional() }),
    ...spec,
    async execute({ note, pauseMs }, { callId }) {
      writeSync(marks, `${callId} ${note}\n`)
      fsyncSync(marks)
      if (pauseMs !== undefined) await new Promise((resolve) => setTimeout(resolve, pauseMs))
      return { note }
    },
  })
}

/** At once, so that what was printed outlives the process. */
function print(message) {
  writeSync(1, `${JSON.stringify(message)}\n`)
}
