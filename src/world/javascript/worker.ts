import { parentPort, workerData } from "node:worker_threads"
import { evaluate, type Job } from "./evaluate.ts"

// One run, one thread, one engine: what a script breaks is gone with it.
parentPort?.postMessage(await evaluate(workerData as Job))
