import { Worker } from "node:worker_threads"
import { findBuiltFile } from "../../lib/package-file.ts"
import { failure } from "../../core/ending.ts"
import type { JavaScript, Script, ScriptResult } from "./evaluator.ts"
import type { ScriptJob, ScriptOutcome, ScriptMessage } from "./evaluate.ts"

/** Time limits of the thread: for its start, and for its answer after the script's own time is over. */
const startMs = 30_000
const graceMs = 2000

/** Runs scripts, each in its own thread and engine. Loads nothing before the first script. */
export const openJavaScript = (): JavaScript => ({ run })

function run({ code, input, resultLimit, timeoutMs, signal }: Script): Promise<ScriptResult> {
  const workerData: ScriptJob = { code, input: JSON.stringify(input ?? null), resultLimit, timeoutMs }
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(stopped())
    const worker = new Worker(workerFile(), {
      workerData,
      execArgv: [],
      env: {},
      // A large stack, so that the engine notices deep recursion before the thread crashes.
      resourceLimits: { stackSizeMb: 16, maxOldGenerationSizeMb: 256 },
    })
    const end = (act: () => void) => {
      clearTimeout(timer)
      signal?.removeEventListener("abort", abort)
      worker.removeAllListeners()
      // The thread may still report an error while it ends.
      worker.on("error", () => {})
      void worker.terminate().then(act)
    }
    const abort = () => end(() => reject(stopped()))
    const slow = () => end(() => reject(tooSlow()))
    let timer = setTimeout(slow, startMs)
    signal?.addEventListener("abort", abort)
    worker.on("message", (message: ScriptMessage) => {
      if (message === "begins") {
        clearTimeout(timer)
        timer = setTimeout(slow, timeoutMs + graceMs)
        return
      }
      end(() => {
        try {
          resolve(resultOf(message))
        } catch (error) {
          reject(error instanceof Error ? error : new Error(String(error)))
        }
      })
    })
    worker.once("error", (error) => end(() => reject(engineFailure(error.message))))
    worker.once("exit", () => end(() => reject(engineFailure("it ended without an answer"))))
  })
}

function resultOf(outcome: ScriptOutcome): ScriptResult {
  const { logs, logsDropped } = outcome
  if ("json" in outcome) return { result: JSON.parse(outcome.json) as unknown, logs, logsDropped }
  const { toolCode, sentence } = outcome
  throw failure(sentence, { toolCode, ...(logs.length === 0 ? {} : { metadata: { logs, logsDropped } }) })
}

function workerFile(): string {
  const found = findBuiltFile("platform/javascript/script-worker.js")
  if (found === undefined) throw engineFailure("it is not built; run: npm run build")
  return found
}

const stopped = () => failure("The code was stopped.", { toolCode: "js_stopped" })

const tooSlow = () => failure("The code took too long and was stopped. Do less at once.", { toolCode: "js_timeout" })

const engineFailure = (why: string) =>
  failure(`The JavaScript engine failed: ${why}. Simplify the code.`, { toolCode: "js_execution_failed" })
