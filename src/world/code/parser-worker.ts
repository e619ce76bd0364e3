import { parentPort } from "node:worker_threads"
import type { ParseTask, WarmTask } from "./parsers.ts"
import { outliner } from "./outline.ts"
import { parseHere } from "./parse-here.ts"
import { grammarFolder } from "./worker-file.ts"

const outlines = outliner(grammarFolder())

parentPort?.on("message", (task: ParseTask | WarmTask) => {
  if ("warm" in task) return void outlines.outline("", task.warm).catch(() => {})
  void parseHere(task.root, task.jobs, outlines).then((parsed) =>
    parentPort?.postMessage(
      parsed,
      parsed.flatMap(({ outline }) => (outline === undefined ? [] : [outline.numbers.buffer as ArrayBuffer])),
    ),
  )
})
