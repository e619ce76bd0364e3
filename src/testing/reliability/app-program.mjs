// An app in its own process, for tests. It reads one command per line and prints one result per line. Everything a result
// acknowledges is stored before the result is printed. The first argument has the options; see app-process.ts.
import { appendFileSync, fsyncSync, openSync, writeSync } from "node:fs"
import { hostname } from "node:os"
import { join } from "node:path"
import { createInterface } from "node:readline"
import { z } from "zod"
import { createQuartermaster, defineTool } from "../../../build/index.js"
import { newId } from "../../../build/lib/new-id.js"
import { silentLogger } from "../../../build/core/logger.js"
import { Journal } from "../../../build/store/sqlite/journal.js"
import { loadRecordKey } from "../../../build/store/sqlite/record-key.js"
import { newOwnerName } from "../../../build/store/sqlite/owner.js"
import { openStore } from "../../../build/store/sqlite/store.js"

const { dir, config, options, tools } = JSON.parse(process.argv[2])
const marks = openSync(join(dir, "marks"), "a")
const app = await createQuartermaster(
  { ...config, data: { ...config.data, dir: join(dir, "data") } },
  { workspace: dir, ...options },
)
for (const spec of tools) app.registry.register(markTool(spec))
app.on("TOOL_CALL_WAITING", ({ callId, toolName }) => print({ waiting: callId, tool: toolName }))

/** Commands that are not methods of the app itself. */
const commands = {
  /** Arms the failpoint. */
  arm: (path) => appendFileSync(path, ""),
  exported: async (filter) => {
    const found = []
    for await (const call of app.audit.export(filter)) found.push(call)
    return found
  },
  /** Waits until the moment, then runs the command, so that several processes run it at the same moment. */
  runAt: async (moment, name, args) => {
    while (Date.now() < moment);
    const began = performance.timeOrigin + performance.now()
    const value = await commandNamed(name)(...args)
    return { value, began, ended: performance.timeOrigin + performance.now() }
  },
  leaveOrphans: (count) => Promise.all(Array.from({ length: count }, leaveOrphan)),
  /** Writes an entry of this many megabytes to a second journal. */
  writeNote: async (callId, megabytes) => {
    secondStore ??= openStore({
      dataDir: join(dir, "data"),
      owner: newOwnerName(),
      logger: silentLogger,
      writes: "journal",
    })
    const text = "x".repeat(megabytes * 1024 * 1024)
    await (await secondStore).recorder.write({ kind: "note", callId, at: Date.now(), text }, "crash")
  },
}

let secondStore

/** Writes the journal of a dead process, with a call it had started. */
async function leaveOrphan() {
  const key = loadRecordKey(join(dir, "data"))
  const journal = new Journal(join(dir, "data", "journal"), key, `${hostname()}|${2 ** 22}|0|${newId()}`, () => {})
  const callId = newId()
  await journal.write({ kind: "start", callId, at: Date.now(), agentId: "operator", tool: "orphan" }, "crash")
  journal.close()
  return callId
}

print({ ready: true })
const lines = createInterface({ input: process.stdin })
lines.on("close", () => process.exit()) // The test process is gone.
lines.on("line", (line) => void runCommand(JSON.parse(line)))

async function runCommand({ id, name, args }) {
  try {
    print({ id, value: await commandNamed(name)(...args) })
  } catch (error) {
    print({ id, error: error instanceof Error ? error.message : String(error) })
  }
}

function commandNamed(name) {
  if (commands[name] !== undefined) return commands[name]
  const steps = name.split(".")
  const last = steps.pop()
  const owner = steps.reduce((object, step) => object[step], app)
  return (...args) => owner[last](...args)
}

/** A tool that writes a synced mark for each run: the call's id and the note of its input. */
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

/** Writes synchronously, so that the line survives a kill. */
function print(message) {
  writeSync(1, `${JSON.stringify(message)}\n`)
}
