import { mkdirSync, utimesSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { expect, test } from "vitest"
import { openBench } from "./testing.ts"

test("among 10,000 files the newest is found", async () => {
  const bench = openBench()
  for (let folder = 0; folder < 100; folder++) {
    mkdirSync(join(bench.dir, `d${folder}`))
    for (let number = 0; number < 100; number++) writeFileSync(join(bench.dir, `d${folder}`, `${number}.txt`), "")
  }
  const later = Date.now() / 1000 + 100
  utimesSync(join(bench.dir, "d50/50.txt"), later, later)
  const found = await bench.call("find_files", { pattern: "**/*", limit: 1 })
  expect(found).toMatchObject({ files: ["d50/50.txt"], total: 10_000, truncated: true, order: "modified" })
})
