import { Worker } from "node:worker_threads"
import { builtFile } from "../../model/built-file.ts"
import { failure } from "../../model/ending.ts"
import type { JavaScript, Script, ScriptResult } from "../../model/javascript.ts"
import type { Job, Outcome, Told } from "./evaluate.ts"

/** What the thread is given to begin, and beyond the script's own time to answer. */
const startMs = 30_000
const patienceMs = 2000

/** Runs scripts, each in a thread and an engine of its own. Nothing is loaded before the first. */
export const openJavaScript = (): JavaScript => ({ run })

function run({ code, input, resultLimit, timeoutMs, signal }: Script): Promise<ScriptResult> {
  const workerData: Job = { code, input: JSON.stringify(input ?? null), resultLimit, timeoutMs }
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(stopped())
    const worker = new Worker(workerFile(), {
      workerData,
      execArgv: [],
      env: {},
      // Deep recursion is the engine's to notice before the thread's own stack ends.
      resourceLimits: { stackSizeMb: 16, maxOldGenerationSizeMb: 256 },
    })
    const end = (act: () => void) => {
      clearTimeout(timer)
      signal?.removeEventListener("abort", abort)
      worker.removeAllListeners()
      // A thread that is about to end may still complain.
      worker.on("error", () => {})
      void worker.terminate().then(act)
    }
    const abort = () => end(() => reject(stopped()))
    const slow = () => end(() => reject(tooSlow()))
    let timer = setTimeout(slow, startMs)
    signal?.addEventListener("abort", abort)
    worker.on("message", (told: Told) => {
      if (told === "begins") {
        clearTimeout(timer)
        timer = setTimeout(slow, timeoutMs + patienceMs)
        return
      }
      end(() => {
        try {
          resolve(resultOf(told))
        } catch (error) {
          reject(error instanceof Error ? error : new Error(String(error)))
        }
      })
    })
    worker.once("error", (error) => end(() => reject(brokeDown(error.message))))
    worker.once("exit", () => end(() => reject(brokeDown("it ended without an answer"))))
  })
}

function resultOf(outcome: Outcome): ScriptResult {
  const { logs, logsDropped } = outcome
  if ("json" in outcome) return { result: JSON.parse(outcome.json) as unknown, logs, logsDropped }
  const { toolCode, sentence } = outcome
  throw failure(sentence, { toolCode, ...(logs.length === 0 ? {} : { metadata: { logs, logsDropped } }) })
}

function workerFile(): string {
  const found = builtFile("world/javascript/worker.js", import.meta.url)
  if (found === undefined) throw brokeDown("it is not built; run: npm run build")
  return found
}

const stopped = () => failure("The code was stopped.", { toolCode: "js_stopped" })

const tooSlow = () => failure("The code took too long and was stopped. Do less at once.", { toolCode: "js_timeout" })

const brokeDown = (why: string) =>
  failure(`The engine for JavaScript broke down: ${why}. Simplify the code.`, { toolCode: "js_execution_failed" })
