import { z } from "zod"
import { defineTool } from "../../schema/define-tool.ts"
import { ToolFailure } from "../../core/ending.ts"
import type { Files } from "../../platform/files/file-access.ts"
import { toolRef, dialectText, ifParameter } from "../../core/dialect-text.ts"
import type { ToolContext } from "../../core/tool.ts"
import { encodingNamed } from "../../platform/text/encoding-names.ts"
import { fileView, defaultLineLimit, viewOf, type FileView, type ViewOptions } from "./file-view.ts"
import { largeView } from "./large-view.ts"
import { filesFor, checkExtension, fileTooLargeFailure, withSuggestions, type Workspace } from "./workspace.ts"
import { pagesAtOnce } from "../../platform/pdf/pdf.ts"

/** Up to this size a file is read synchronously. */
const smallSize = 256 * 1024

const line = z.int().min(1)

/** Reads files. Small files are read synchronously; of a large file only the requested lines are kept in memory. */
export const readFile = (workspace: Workspace) =>
  defineTool({
    name: "read_file",
    group: "workspace",
    category: "file",
    description: `Read a file of the workspace: text (${defaultLineLimit} lines unless limit says otherwise), images, PDF documents as text, Jupyter notebooks as cells. Give paths instead of path to read several at once.`,
    effect: "read",
    input: () =>
      z
        .object({
          path: z
            .string()
            .min(1)
            .optional()
            .describe("The file, relative to the workspace, for example src/app/create-app.ts"),
          paths: z
            .array(z.string().min(1))
            .min(1)
            .max(50)
            .optional()
            .describe("Several files instead of path, 50 at most"),
          offset: line.optional().describe("The first line to read, from 1"),
          limit: line.optional().describe(`How many lines to read, ${defaultLineLimit} by default`),
          tail: line.optional().describe("Read that many lines from the end instead"),
          encoding: z
            .string()
            .refine(
              (name) => encodingNamed(name) !== undefined,
              "is not a known encoding, use utf-8, utf-16le, gbk, shift_jis, latin1, base64 or another",
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
      const reading = { workspace, files: filesFor(workspace, context), context }
      return input.paths === undefined
        ? readOne(input.path!, input, workspace.maxFileSize, reading)
        : readMany(input.paths, input, reading)
    },
  })

interface Reading {
  readonly workspace: Workspace
  readonly files: Files
  /** Not destructured early: the signal is created on first use, and a small file needs none. */
  readonly context: Pick<ToolContext, "agent" | "signal">
}

function readOne(path: string, options: ViewOptions, limit: number, reading: Reading): FileView | Promise<FileView> {
  const { workspace, files, context } = reading
  try {
    checkExtension(path, workspace)
    const small = files.readSmall(path, Math.min(smallSize, limit))
    if (small === undefined) return readLarge(path, options, limit, reading)
    workspace.readMarks.markRead(context.agent.id, small.facts)
    return viewOf(small.bytes, small.facts, options, context)
  } catch (error) {
    throw withSuggestions(error, path, files)
  }
}

async function readLarge(path: string, options: ViewOptions, limit: number, reading: Reading): Promise<FileView> {
  const { workspace, files, context } = reading
  const file = await files.open(path)
  try {
    const isPart = options.offset !== undefined || options.limit !== undefined || options.tail !== undefined
    if (file.size > limit && (!isPart || limit < workspace.maxFileSize)) {
      const instead = isPart
        ? "Read it on its own."
        : dialectText`Use ${toolRef("search_files")}${ifParameter("read_file", "offset", aPart)}.`
      throw fileTooLargeFailure(file.path, file.size, limit, instead)
    }
    workspace.readMarks.markRead(context.agent.id, file)
    if (file.size > limit) return await largeView(file, options, limit, context.signal)
    return await viewOf(await file.readAll(limit), file, options, context)
  } finally {
    await file.close()
  }
}

const orTail = dialectText` or with ${toolRef("read_file", "tail")}`
const aPart = dialectText`, or read a part of it with offset and limit${ifParameter("read_file", "tail", orTail)}`

/** Reads each file on its own, so that one failure does not affect the others. Together they obey the limit of one file. */
async function readMany(paths: readonly string[], options: ViewOptions, reading: Reading) {
  const files: (Partial<FileView> & { error?: string; toolCode?: string })[] = []
  let limit = reading.workspace.maxFileSize
  for (const path of paths) {
    reading.context.signal.throwIfAborted()
    try {
      const view = await readOne(path, options, limit, reading)
      limit = Math.max(0, limit - view.content.length)
      files.push(view)
    } catch (error) {
      if (!(error instanceof ToolFailure)) throw error
      files.push({ path, error: error.message, ...(error.toolCode === undefined ? {} : { toolCode: error.toolCode }) })
    }
  }
  return { files, failed: files.filter(({ error }) => error !== undefined).length }
}

type Input = ViewOptions & { path?: string; paths?: string[] }

function refuseContradictions(input: Input, context: z.RefinementCtx): void {
  const addIssue = (path: string, message: string) => context.addIssue({ code: "custom", path: [path], message })
  if (input.path === undefined && input.paths === undefined) addIssue("path", "is missing; give path or paths")
  if (input.path !== undefined && input.paths !== undefined) addIssue("paths", "cannot be used together with path")
  if (input.tail === undefined && input.encoding === undefined) return
  if (input.tail !== undefined && input.offset !== undefined) addIssue("tail", "cannot be used together with offset")
  if (input.tail !== undefined && input.limit !== undefined) addIssue("tail", "cannot be used together with limit")
  const isPart = input.tail !== undefined || input.offset !== undefined || input.limit !== undefined
  if (input.encoding !== undefined && isPart && encodingNamed(input.encoding) === "base64")
    addIssue("encoding", "base64 gives the whole file; leave offset, limit and tail out")
}
