import { z } from "zod"
import { textPage } from "../../lib/text-page.ts"
import { artifactReader, readFrom } from "../../core/artifact-reader.ts"
import { defineTool } from "../../schema/define-tool.ts"

/** Reads an artifact of this agent or, in its task, of an agent above or below it, whole or in parts. Other artifacts are reported as missing. */
export const getArtifact = () =>
  defineTool({
    name: artifactReader,
    group: "artifact",
    category: "data",
    description:
      "Read a stored artifact by its reference. Binary content comes back in Base64. Null when there is none. Read a long one in parts, with offset and limit: nextOffset says where the next part begins, and is null at the end.",
    effect: "read",
    input: () =>
      z.object({
        ref: z.string().min(1).describe("The reference, for example artifact:0192…, with or without the prefix"),
        offset: z.number().int().min(0).optional().describe("Begin at this character of the content (default 0)"),
        limit: z.number().int().min(1).optional().describe("Return at most so many characters (default: all)"),
      }),

    async execute({ ref, offset, limit }, { artifacts, addMetadata }) {
      const found = await artifacts.get(ref)
      if (found === null) return null
      const { id, type, createdAt, callId, meta, isBinary, mimeType } = found
      const content = Buffer.from(found.content).toString(isBinary ? "base64" : "utf8")
      const described = { type, createdAt, messageId: callId ?? null, meta, isBinary, mimeType }
      const total = content.length
      const { part, end } = textPage(content, offset ?? 0, limit ?? total)
      addMetadata?.(readFrom(`artifact:${id}`, { offset: offset ?? 0, length: part.length }))
      if (offset === undefined && limit === undefined) return { id, content, ...described }
      return { id, content: part, total, nextOffset: end < total ? end : null, ...described }
    },
  })
