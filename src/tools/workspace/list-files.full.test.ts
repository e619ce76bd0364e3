import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { expect, test } from "vitest"
import { openBench, type Bench } from "./testing.ts"

const list = (bench: Bench, input: object = {}, context = {}) => bench.call("list_files", input, context)

test("no more than a thousand are shown, and all are counted", async () => {
  const bench = openBench()
  for (let number = 0; number < 1100; number++) writeFileSync(join(bench.dir, `${number}`), "")
  const outcome = await list(bench)
  expect(outcome["files"]).toHaveLength(1000)
  expect(outcome).toMatchObject({ total: 1100, truncated: true })
  expect((await list(bench, { limit: 1001 })).toolCode).toBe("invalid_arguments")
})
