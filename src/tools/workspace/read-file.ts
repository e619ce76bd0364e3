import { z } from "zod"
import { defineTool } from "../../model/define-tool.ts"
import { ToolFailure } from "../../model/ending.ts"
import type { Files } from "../../model/files.ts"
import type { ToolContext } from "../../model/tool.ts"
import { encodingNamed } from "./encoding-names.ts"
import { fileView, linesAtOnce, viewOf, type FileView, type Wish } from "./file-view.ts"
import { largeView } from "./large-view.ts"
import { fenceFor, refuseExtension, tooLarge, withNearNames, type Workspace } from "./options.ts"
import { pagesAtOnce } from "./pdf.ts"

/** Up to this size a file is read without leaving the turn. */
const smallSize = 256 * 1024

const line = z.int().min(1)

/** Reads files. A small text costs little more than the reading itself; of a large file only the lines that are wanted. */
export const readFile = (workspace: Workspace) =>
  defineTool({
    name: "read_file",
    group: "workspace",
    category: "file",
    description: `Read a file of the workspace: text (${linesAtOnce} lines unless limit says otherwise), images, PDF documents as text, Jupyter notebooks as cells. Give paths instead of path to read several at once.`,
    effect: "read",
    input: z
      .object({
        path: z.string().min(1).optional().describe("The file, relative to the workspace, for example src/app.ts"),
        paths: z
          .array(z.string().min(1))
          .min(1)
          .max(50)
          .optional()
          .describe("Several files instead of path, 50 at most"),
        offset: line.optional().describe("The first line to read, from 1"),
        limit: line.optional().describe(`How many lines to read, ${linesAtOnce} by default`),
        tail: line.optional().describe("Read that many lines from the end instead"),
        encoding: z
          .string()
          .refine(
            (name) => encodingNamed(name) !== undefined,
            "is no known encoding, use utf-8, utf-16le, gbk, shift_jis, latin1, base64 or another",
          )
          .optional()
          .describe("Found out when left out. base64 gives the bytes of any file"),
        pages: z
          .string()
          .regex(/^\s*\d+\s*(-\s*\d*\s*)?$/, "must be a page or a range, for example 3 or 1-5")
          .optional()
          .describe(`Pages of a PDF document, for example 1-5; ${pagesAtOnce} at most`),
      })
      .superRefine(refuseContradictions),
    output: fileView.partial().extend({
      files: z
        .array(fileView.partial().extend({ error: z.string().optional(), toolCode: z.string().optional() }))
        .optional()
        .describe("With paths: each file as it would be alone, or the error it ended with"),
      failed: z.number().optional().describe("With paths: how many of them could not be read"),
    }),
    touches: ({ path, paths }) => (paths ?? [path!]).map((what) => ({ kind: "read", what, opens: true })),

    execute(input, context) {
      const reading = { workspace, files: fenceFor(workspace, context), context }
      return input.paths === undefined
        ? readOne(input.path!, input, workspace.maxFileSize, reading)
        : readMany(input.paths, input, reading)
    },
  })

interface Reading {
  readonly workspace: Workspace
  readonly files: Files
  /** Its signal costs something the first time it is looked at; a small file needs none. */
  readonly context: Pick<ToolContext, "agent" | "signal">
}

function readOne(path: string, wish: Wish, room: number, reading: Reading): FileView | Promise<FileView> {
  const { workspace, files, context } = reading
  try {
    refuseExtension(path, workspace)
    const small = files.readSmall(path, Math.min(smallSize, room))
    if (small === undefined) return readLarge(path, wish, room, reading)
    workspace.marks.see(context.agent.id, small.facts)
    return viewOf(small.bytes, small.facts, wish, context)
  } catch (error) {
    throw withNearNames(error, path, files)
  }
}

async function readLarge(path: string, wish: Wish, room: number, reading: Reading): Promise<FileView> {
  const { workspace, files, context } = reading
  const file = await files.open(path)
  try {
    const isPart = wish.offset !== undefined || wish.limit !== undefined || wish.tail !== undefined
    if (file.size > room && (!isPart || room < workspace.maxFileSize)) {
      const instead = isPart
        ? "Read it on its own."
        : "Read a part of it with offset and limit or with tail, or use search_files."
      throw tooLarge(file.path, file.size, room, instead)
    }
    workspace.marks.see(context.agent.id, file)
    if (file.size > room) return await largeView(file, wish, room, context.signal)
    return await viewOf(await file.readAll(room), file, wish, context)
  } finally {
    await file.close()
  }
}

/** Each file by itself: one that cannot be read takes no other with it. Together they are no larger than one may be. */
async function readMany(paths: readonly string[], wish: Wish, reading: Reading) {
  const files: (Partial<FileView> & { error?: string; toolCode?: string })[] = []
  let room = reading.workspace.maxFileSize
  for (const path of paths) {
    reading.context.signal.throwIfAborted()
    try {
      const view = await readOne(path, wish, room, reading)
      room = Math.max(0, room - view.content.length)
      files.push(view)
    } catch (error) {
      if (!(error instanceof ToolFailure)) throw error
      files.push({ path, error: error.message, ...(error.toolCode === undefined ? {} : { toolCode: error.toolCode }) })
    }
  }
  return { files, failed: files.filter(({ error }) => error !== undefined).length }
}

type Given = Wish & { path?: string | undefined; paths?: string[] | undefined }

function refuseContradictions(given: Given, context: z.RefinementCtx): void {
  const say = (path: string, message: string) => context.addIssue({ code: "custom", path: [path], message })
  if (given.path === undefined && given.paths === undefined) say("path", "is missing; give path or paths")
  if (given.path !== undefined && given.paths !== undefined) say("paths", "cannot stand together with path")
  if (given.tail === undefined && given.encoding === undefined) return
  if (given.tail !== undefined && given.offset !== undefined) say("tail", "cannot stand together with offset")
  if (given.tail !== undefined && given.limit !== undefined) say("tail", "cannot stand together with limit")
  const isPart = given.tail !== undefined || given.offset !== undefined || given.limit !== undefined
  if (given.encoding !== undefined && isPart && encodingNamed(given.encoding) === "base64")
    say("encoding", "base64 gives the whole file; leave offset, limit and tail out")
}
