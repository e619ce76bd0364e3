import { counted } from "../../lib/counted.ts"
import { z } from "zod"
import { defineTool } from "../../schema/define-tool.ts"
import { ToolFailure } from "../../core/ending.ts"
import type { Files } from "../../platform/files/file-access.ts"
import type { Preview } from "../../core/preview.ts"
import { decode, decodeUnambiguous, byteOrderMark, displayText, type DecodedFile } from "../../platform/text/decode.ts"
import { diffPreview, unifiedDiff } from "./diff.ts"
import { encode, encodeLike } from "../../platform/text/encode.ts"
import { encodingNamed } from "../../platform/text/encoding-names.ts"
import {
  factsIfExists,
  filesFor,
  checkExtension,
  staleFileFailure,
  fileTooLargeFailure,
  type Workspace,
} from "./workspace.ts"
import { refusePlaceholder } from "./placeholders.ts"

/**
 * Writes a whole file, or appends to it. An existing file keeps its encoding and byte order mark unless `encoding` is
 * given. Line endings are written as given.
 */
export const writeFile = (workspace: Workspace) =>
  defineTool({
    name: "write_file",
    group: "workspace",
    category: "file",
    description:
      "Write a file of the workspace: replaces it whole, or adds to its end with append. Folders above it are made. To change a part of a file use edit_file.",
    effect: "write",
    permission: { dangerous: true },
    input: z
      .object({
        path: z.string().min(1).describe("The file, relative to the workspace, for example docs/notes.md"),
        content: z.string().describe("The whole new content, or what is added; Base64 with encoding base64"),
        append: z.boolean().optional().describe("Add to the end instead of replacing"),
        encoding: z
          .string()
          .refine(
            (name) => encodingNamed(name) !== undefined,
            "is not a known encoding, use utf-8, utf-16le, gbk, shift_jis, latin1, base64 or another",
          )
          .optional()
          .describe("That of the file when left out, utf-8 for a new one. base64 writes bytes"),
      })
      .refine((input) => leastBytes(input) <= workspace.maxFileSize, {
        path: ["content"],
        error: `is larger than ${workspace.maxFileSize} bytes (tools.maxFileSize). Write less, or several files`,
      }),
    output: () =>
      z.object({
        ok: z.boolean(),
        bytesWritten: z.number(),
        size: z.number().describe("Bytes of the file now"),
        mode: z.enum(["overwrite", "append"]),
        created: z.boolean(),
        path: z.string(),
        encoding: z.string(),
        backup: z.string().optional(),
      }),
    touches: ({ path }) => [{ kind: "write", what: path, opens: true }],
    preview: (input) => previewOf(input, workspace),

    async execute(input, context) {
      const { agent } = context
      const { path, append = false } = input
      const files = filesFor(workspace, context)
      return workspace.locks.run(files.normalize(path), async () => {
        const { bytes, encoding, facts, before } = await planWrite(input, files, workspace)
        if (!append && facts !== undefined && workspace.readMarks.isStale(agent.id, facts))
          throw staleFileFailure(facts.path)
        if (!append && before !== undefined && encoding !== "base64") refusePlaceholder(input.content, before.text)
        context.signal.throwIfAborted()
        const expected = append ? undefined : (facts?.version ?? null)
        const written = await files.write(path, bytes, { append, expected, backups: workspace.backups })
        workspace.readMarks.markRead(agent.id, written.facts)
        const { created, bytesWritten, backup } = written
        const { size, path: named } = written.facts
        const mode = append ? "append" : "overwrite"
        return {
          ok: true,
          bytesWritten,
          size,
          mode,
          created,
          path: named,
          encoding,
          ...(backup === undefined ? {} : { backup }),
        }
      })
    },
  })

/**
 * Returns the least number of bytes of the content, in whatever encoding: nobody is asked about a call that must
 * fail. The real number is known once the file was looked at.
 */
function leastBytes({ content, encoding }: Pick<Input, "content" | "encoding">): number {
  const named = encoding === undefined ? undefined : encodingNamed(encoding)
  if (named === "base64") return Math.floor((content.length * 3) / 4) - 2
  return named === "utf-8" ? Buffer.byteLength(content) : content.length
}

interface Input {
  readonly path: string
  readonly content: string
  readonly append?: boolean
  readonly encoding?: string
}

async function planWrite(input: Input, files: Files, workspace: Workspace) {
  const { path, content, append = false } = input
  checkExtension(path, workspace)
  const facts = factsIfExists(files, path)
  const before = facts === undefined ? undefined : await textOf(path, files, workspace)
  const named = input.encoding === undefined ? undefined : encodingNamed(input.encoding)
  const encoding = named ?? before?.encoding ?? "utf-8"
  const bytes = await bytesOf(
    content,
    encoding,
    append && facts !== undefined && facts.size > 0,
    named === undefined ? before : undefined,
  )
  const size = append && facts !== undefined ? facts.size + bytes.length : bytes.length
  if (size > workspace.maxFileSize)
    throw fileTooLargeFailure(path, size, workspace.maxFileSize, "Write less, or several files.")
  return { bytes, encoding, facts, before }
}

async function bytesOf(
  content: string,
  encoding: DecodedFile["encoding"],
  isAppended: boolean,
  before: DecodedFile | undefined,
) {
  if (isAppended || encoding === "base64") return encode(content, encoding)
  if (before !== undefined) return encodeLike(content, before)
  // Without a byte order mark UTF-16 and UTF-32 would not be recognized.
  const bytes = await encode(content, encoding)
  return /^utf-(16|32)/.test(encoding) ? Buffer.concat([byteOrderMark(encoding), bytes]) : bytes
}

/** The current text; undefined if the file is not text, empty or too large. */
async function textOf(path: string, files: Files, { maxFileSize }: Workspace): Promise<DecodedFile | undefined> {
  try {
    const found = files.readSmall(path, maxFileSize)
    if (found === undefined || found.bytes.length === 0) return undefined
    return decodeUnambiguous(found.bytes) ?? (await decode(found.bytes, path))
  } catch (error) {
    if (error instanceof ToolFailure && (error.toolCode === "binary_file" || error.toolCode === "unreadable"))
      return undefined
    throw error
  }
}

async function previewOf(input: Input, workspace: Workspace): Promise<Preview> {
  const { files } = workspace
  const { bytes, encoding, facts, before } = await planWrite(input, files, workspace)
  const path = files.normalize(input.path)
  if (encoding === "base64" || (facts !== undefined && facts.size > 0 && before === undefined)) {
    const now = facts === undefined ? "a new file" : `${counted(facts.size, "byte")} that are not text`
    const text = `${input.append === true ? "Adds" : "Writes"} ${counted(bytes.length, "byte")} to ${path} (${now}).`
    return { kind: "text", text, bytes: bytes.length }
  }
  const old = before === undefined ? "" : displayText(before)
  const fresh = input.append === true ? old + input.content : input.content
  if (facts !== undefined && old === fresh)
    return { kind: "text", text: `${path} stays as it is.`, bytes: bytes.length }
  return diffPreview(path, await unifiedDiff(path, facts && old, fresh), bytes.length)
}
