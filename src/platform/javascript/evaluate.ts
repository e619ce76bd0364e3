import { newQuickJSWASMModuleFromVariant, type QuickJSContext, type QuickJSHandle } from "quickjs-emscripten-core"

/** A script for the thread to run. */
export interface ScriptJob {
  readonly code: string
  /** The input as JSON. */
  readonly input: string
  readonly resultLimit: number
  readonly timeoutMs: number
}

/** The result or failure of a script. */
export type ScriptOutcome = {
  readonly logs: readonly string[]
  readonly logsDropped: number
} & ({ readonly json: string } | { readonly toolCode: string; readonly sentence: string })

/** The messages of the thread, in this order. */
export type ScriptMessage = "begins" | ScriptOutcome

const memoryLimit = 64 * 1024 * 1024
const stackLimit = 256 * 1024
const maxLogLines = 1000
const maxLogCharacters = 100_000
const jobsPerRound = 1000

/** The console, and functions the host needs, taken before the script can change them. */
const prelude = `(write) => {
  const { stringify, parse } = JSON
  const text = String
  const show = (value) => {
    if (typeof value === "string") return value
    if (value instanceof Error) return text(value)
    try {
      const json = stringify(value)
      return json === undefined ? text(value) : json
    } catch {
      return text(value)
    }
  }
  const console = {}
  for (const level of ["log", "info", "debug", "warn", "error"]) {
    const before = level === "warn" || level === "error" ? level + ": " : ""
    console[level] = (...values) => { write(before + values.map(show).join(" ")) }
  }
  globalThis.console = console
  return {
    parse,
    finish: (value) => {
      if (value === undefined) return "null"
      const json = stringify(value)
      if (json === undefined) throw new TypeError("a " + typeof value + " is not JSON")
      return json
    },
    describe: (error) => error instanceof Error ? error.name + ": " + error.message + "\\n" + error.stack : text(error),
  }
}`

/** Runs a script in a fresh engine. Always returns, whatever the script does. Its time starts once the engine is loaded. */
export async function evaluate(
  { code, input, resultLimit, timeoutMs }: ScriptJob,
  onBegin: () => void = () => {},
): Promise<ScriptOutcome> {
  const engine = await newQuickJSWASMModuleFromVariant(import("@jitl/quickjs-wasmfile-release-sync"))
  onBegin()
  const deadline = Date.now() + timeoutMs
  const runtime = engine.newRuntime({ memoryLimitBytes: memoryLimit, maxStackSizeBytes: stackLimit })
  runtime.setInterruptHandler(() => Date.now() > deadline)
  const context = runtime.newContext()
  const logs: string[] = []
  const counted = { length: 0, dropped: 0 }
  const write = context.newFunction("write", (handle) => {
    const line = context.getString(handle)
    if (logs.length >= maxLogLines || counted.length + line.length > maxLogCharacters) counted.dropped++
    else logs.push(line)
    counted.length += line.length
  })
  const end = (what: { json: string } | { toolCode: string; sentence: string }): ScriptOutcome => ({
    logs,
    logsDropped: counted.dropped,
    ...what,
  })
  try {
    const tools = valueOf(context.callFunction(valueOf(context.evalCode(prelude)), context.undefined, write))
    const tool = (name: string) => context.getProp(tools, name)
    try {
      const given = valueOf(context.callFunction(tool("parse"), context.undefined, context.newString(input)))
      const returned = valueOf(context.callFunction(compile(context, code), context.undefined, given))
      const value = settle(context, returned, deadline)
      return end(jsonOf(context, tool("finish"), value, resultLimit))
    } catch (error) {
      if (!(error instanceof Thrown) || Date.now() > deadline) throw error
      return end(failed(context, tool("describe"), error.handle))
    }
  } catch (error) {
    // Once its time is over, the engine refuses everything, even to describe the error.
    if (Date.now() > deadline) return end(outOfTime)
    if (error instanceof Unsettled) return end(error.why)
    const what = error instanceof Thrown ? String(context.dump(error.handle)?.message ?? "it failed") : String(error)
    return end(classified(what))
  }

  /** As an expression if possible, otherwise as the body of a function. */
  function compile(within: QuickJSContext, text: string): QuickJSHandle {
    const asExpression = within.evalCode(`(async (input) => (\n${text}\n))`, "code.js")
    if (asExpression.error === undefined) return asExpression.value
    return valueOf(within.evalCode(`(async (input) => {\n${text}\n})`, "code.js"))
  }
}

/** An error that the script threw; its value is still inside the engine. */
class Thrown extends Error {
  readonly handle: QuickJSHandle
  constructor(handle: QuickJSHandle) {
    super("The script threw.")
    this.handle = handle
  }
}

class Unsettled extends Error {
  readonly why: { toolCode: string; sentence: string }
  constructor(why: { toolCode: string; sentence: string }) {
    super(why.sentence)
    this.why = why
  }
}

function valueOf(
  result: { value: QuickJSHandle; error?: undefined } | { error: QuickJSHandle; value?: undefined },
): QuickJSHandle {
  if (result.error !== undefined) throw new Thrown(result.error)
  return result.value
}

/** The value of a promise. Runs pending jobs until it settles or the time is over. */
function settle(context: QuickJSContext, promise: QuickJSHandle, deadline: number): QuickJSHandle {
  for (;;) {
    const state = context.getPromiseState(promise)
    if (state.type === "fulfilled") return state.value
    if (state.type === "rejected") throw new Thrown(state.error)
    if (Date.now() > deadline) throw new Unsettled(outOfTime)
    const ran = context.runtime.executePendingJobs(jobsPerRound)
    if (ran.error !== undefined) throw new Thrown(ran.error)
    if (ran.value === 0) {
      throw new Unsettled({
        toolCode: "js_execution_failed",
        sentence: "The code awaits a promise that never settles. There are no timers and no network; return a value.",
      })
    }
  }
}

function jsonOf(context: QuickJSContext, finish: QuickJSHandle, value: QuickJSHandle, limit: number) {
  const finished = context.callFunction(finish, context.undefined, value)
  if (finished.error !== undefined) {
    const { name = "", message = "" } = (context.dump(finished.error) ?? {}) as { name?: string; message?: string }
    if (name === "InternalError") return classified(`${name}: ${message}`)
    return {
      toolCode: "non_json_serializable_return",
      sentence: `The returned value cannot be written as JSON (${message}). Return plain values, lists and objects.`,
    }
  }
  const json = context.getString(finished.value)
  if (json.length <= limit) return { json }
  return {
    toolCode: "result_too_large",
    sentence: `The result has ${json.length} characters of JSON, more than the limit of ${limit}. Return less.`,
  }
}

function failed(context: QuickJSContext, describe: QuickJSHandle, error: QuickJSHandle) {
  const described = context.callFunction(describe, context.undefined, error)
  return classified(
    described.error === undefined ? context.getString(described.value) : "it threw something that cannot be shown",
  )
}

const outOfTime = { toolCode: "js_timeout", sentence: "The code took too long and was stopped. Do less at once." }

function classified(description: string): { toolCode: string; sentence: string } {
  const [first = "", ...stack] = description.split("\n")
  if (first.startsWith("InternalError: interrupted")) return outOfTime
  if (/out of memory/.test(first)) {
    return { toolCode: "js_out_of_memory", sentence: "The code needs more than 64 MB of memory. Work on less at once." }
  }
  const line = /code\.js:(\d+)/.exec(stack.join("\n"))?.[1]
  const where = line === undefined ? "" : ` (line ${Number(line) - 1})`
  return { toolCode: "js_execution_failed", sentence: `The code failed: ${first.slice(0, 2000)}${where}.` }
}
