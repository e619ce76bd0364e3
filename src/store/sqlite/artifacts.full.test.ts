import fc from "fast-check"
import { expect, test } from "vitest"
import { openArtifacts, artifactIdOf } from "../testing/artifacts.ts"

test("law: any bytes are read back unchanged, with all their fields", async () => {
  const { artifacts } = await openArtifacts()
  const someArtifact = fc.record({
    type: fc.string({ unit: "grapheme", minLength: 1 }),
    content: fc.uint8Array({ maxLength: 2000 }),
    mimeType: fc.string({ unit: "grapheme", minLength: 1 }),
    isBinary: fc.boolean(),
    meta: fc.jsonValue().map((value) => JSON.parse(JSON.stringify(value)) as unknown),
    taskId: fc.option(fc.string(), { nil: undefined }),
    callId: fc.option(fc.string(), { nil: undefined }),
  })
  await fc.assert(
    fc.asyncProperty(someArtifact, async (given) => {
      const began = Date.now()
      const ref = await artifacts.put({ ...given, agentId: "ann" })
      const { content, createdAt, ...rest } = (await artifacts.get(ref))!
      expect(Buffer.compare(content, given.content)).toBe(0)
      expect(createdAt).toBeGreaterThanOrEqual(began)
      expect(rest).toEqual({ ...given, content: undefined, agentId: "ann", id: artifactIdOf(ref) })
    }),
    { numRuns: 100 },
  )
})
