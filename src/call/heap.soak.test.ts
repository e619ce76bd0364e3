import { expect, test } from "vitest"
import { runChild, libraryFile, zodModule } from "../testing/child-process.ts"
import { temporaryFolder } from "../testing/test-app.ts"

test("a quarter of a million calls leave the heap as it was", async () => {
  const dir = temporaryFolder()
  const { lines, ended } = runChild(
    `
    import { createQuartermaster, defineTool } from ${JSON.stringify(libraryFile)}
    import { z } from ${JSON.stringify(zodModule)}
    const system = await createQuartermaster({ data: { dir: ${JSON.stringify(dir)} } })
    system.registry.register(defineTool({
      name: "add", group: "data", description: "Adds.", effect: "none", input: z.object({ a: z.number() }),
      execute: async ({ a }) => { if (a % 7 === 0) throw new Error("seven"); return a },
    }))
    const heap = () => { gc(); return process.memoryUsage().heapUsed }
    const many = async (count) => {
      let next = 0
      const lane = async () => { while (next < count) { const a = next++; await system.call({ agentId: a % 5 === 0 ? "root" : "operator", tool: "add", input: { a } }) } }
      await Promise.all(Array.from({ length: 16 }, lane))
      await system.settle()
    }
    await many(20000)
    const before = heap()
    await many(250000)
    console.log(JSON.stringify({ grown: heap() - before, total: (await system.audit.stats()).total, verified: (await system.audit.verify()).ok }))
    await system.close()
  `,
    ["--expose-gc"],
  )
  expect(await ended).toBe(0)
  const { grown, total, verified } = JSON.parse(lines[0]!) as { grown: number; total: number; verified: boolean }
  expect(grown).toBeLessThan(8_000_000)
  expect({ total, verified }).toEqual({ total: 270_000, verified: true })
})
