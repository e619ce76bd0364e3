import { parentPort } from "node:worker_threads"
import type { ParseTask, WarmTask } from "./parser-pool.ts"
import { createOutliner } from "./outline.ts"
import { parseFiles } from "./parse-files.ts"
import { grammarFolder } from "./worker-file.ts"

const outlines = createOutliner(grammarFolder())

parentPort?.on("message", (task: ParseTask | WarmTask) => {
  if ("warm" in task) return void outlines.outline("", task.warm).catch(() => {})
  void parseFiles(task.root, task.jobs, outlines).then((parsed) =>
    parentPort?.postMessage(
      parsed,
      parsed.flatMap(({ outline }) => (outline === undefined ? [] : [outline.numbers.buffer as ArrayBuffer])),
    ),
  )
})
