import { z } from "zod"
import { defineTool } from "../../schema/define-tool.ts"

/** Reads an artifact of this agent or its task. Other artifacts are reported as missing. */
export const getArtifact = () =>
  defineTool({
    name: "get_artifact",
    group: "artifact",
    category: "data",
    description:
      "Read a stored artifact by its reference. Binary content comes back in Base64. Null when there is none.",
    effect: "read",
    input: z.object({
      ref: z.string().min(1).describe("The reference, for example artifact:0192…, with or without the prefix"),
    }),

    async execute({ ref }, { artifacts }) {
      const found = await artifacts.get(ref)
      if (found === null) return null
      const { id, type, createdAt, callId, meta, isBinary, mimeType } = found
      const content = Buffer.from(found.content).toString(isBinary ? "base64" : "utf8")
      return { id, content, type, createdAt, messageId: callId ?? null, meta, isBinary, mimeType }
    },
  })
