import { z } from "zod"
import { defineTool } from "../../schema/define-tool.ts"
import { failure } from "../../core/ending.ts"

/** Stores an artifact for this agent and its task. */
export const putArtifact = () =>
  defineTool({
    name: "put_artifact",
    group: "artifact",
    category: "data",
    description: "Store a text or binary content and get a reference to it. Binary content is given in Base64.",
    effect: "write",
    permission: { level: "public" },
    input: () =>
      z.object({
        type: z.string().min(1).max(200).describe("What it is, for example report or image"),
        content: z.string().describe("The text, or Base64 with encoding base64"),
        encoding: z.enum(["utf8", "base64"]).default("utf8").describe("How content is given"),
        mimeType: z.string().min(1).max(200).optional().describe("For example text/markdown or image/png"),
        meta: z.record(z.string(), z.unknown()).optional().describe("Anything worth keeping with it"),
      }),
    output: () => z.object({ artifactRef: z.string() }),

    async execute({ type, content, encoding, mimeType, meta }, { artifacts }) {
      const bytes = encoding === "base64" ? decode(content) : wholeText(content)
      const kind = mimeType === undefined ? {} : { mimeType }
      return { artifactRef: await artifacts.put({ type, content: bytes, ...kind, meta: meta ?? null }) }
    },
  })

function wholeText(content: string): string {
  if (!/\p{Surrogate}/u.test(content)) return content
  throw failure("The content contains half of a character (a lone surrogate). Leave it out.", { toolCode: "not_text" })
}

function decode(content: string): Uint8Array {
  if (!/^[A-Za-z0-9+/]*={0,2}$/.test(content) || content.length % 4 !== 0) {
    throw failure("The content is not Base64. Encode it, or leave encoding out for text.", {
      toolCode: "invalid_base64",
    })
  }
  return Buffer.from(content, "base64")
}
