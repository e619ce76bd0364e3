import { z } from "zod"
import type { AliasSpec } from "./dialect.ts"
import { defineAlias, requiredParameterValue, parameterValue, failIf, withoutUndefined } from "./define-alias.ts"

const text = z.string()
const filePath = text.min(1).describe("The file, relative to the workspace or absolute inside it")

/** The part of the dialect that is about files and what is in them. */
export const claudeFiles = (): AliasSpec[] => [
  defineAlias({
    name: "Read",
    dialect: "claude",
    tool: "read_file",
    description: "Read a file: text with line offset and limit, images, PDF documents and Jupyter notebooks.",
    input: () =>
      z.object({
        file_path: filePath,
        offset: z.int().min(1).optional().describe("The first line, from 1"),
        limit: z.int().min(1).optional().describe("How many lines; 2000 by default"),
        encoding: text.optional().describe("Found out when left out"),
        pages: text.optional().describe("Pages of a PDF document, for example 1-5"),
      }),
    output: () =>
      z.object({
        content: text,
        total_lines: z.number().optional(),
        encoding: text,
        truncated: z.boolean(),
        notice: text.optional(),
        image: z.unknown().optional(),
      }),
    toInput: ({ file_path, ...rest }) => {
      const isPart = rest.offset !== undefined || rest.limit !== undefined
      const isBytes = rest.encoding?.toLowerCase() === "base64"
      failIf(isBytes && isPart, "'encoding' base64 gives the whole file; leave offset and limit out.")
      return { path: file_path, ...rest }
    },
    toResult: ({ content, totalLines, encoding, truncated, notice, image }: Record<string, unknown>) =>
      withoutUndefined({ content, total_lines: totalLines, encoding, truncated, notice, image }),
    names: { tail: null },
  }),
  defineAlias({
    name: "Write",
    dialect: "claude",
    tool: "write_file",
    description: "Write a whole file. Folders above it are made.",
    input: () => z.object({ file_path: filePath, content: text.describe("The whole new content") }),
    output: () => z.object({ file_path: text, bytes_written: z.number(), created: z.boolean() }),
    toInput: ({ file_path, content }) => ({ path: file_path, content }),
    toResult: ({ path, bytesWritten, created }: Record<string, unknown>) => ({
      file_path: path,
      bytes_written: bytesWritten,
      created,
    }),
    names: { encoding: null },
  }),
  defineAlias({
    name: "Edit",
    dialect: "claude",
    tool: "edit_file",
    description:
      "Replace an exact, unique piece of text (old_string, new_string), or whole lines (start_line, end_line, new_content). With preview nothing is changed.",
    input: () =>
      z.object({
        file_path: filePath,
        old_string: text.optional().describe("The exact text to replace, unique in the file unless replace_all"),
        new_string: text.optional().describe("What comes in its place"),
        replace_all: z.boolean().optional().describe("Replace it everywhere"),
        start_line: z.int().min(1).optional().describe("Replace whole lines instead: the first one"),
        end_line: z.int().min(0).optional().describe("The last one"),
        new_content: text.optional().describe("What comes in the place of the lines"),
        preview: z.boolean().optional().describe("Only show what would change"),
        create_backup: z.boolean().optional().describe("Keep the version before it"),
      }),
    output: () =>
      z.object({
        file_path: text,
        changed: z.boolean(),
        replacements: z.number(),
        diff: text,
        backup: text.optional(),
      }),
    toInput: (given) => {
      const { file_path, old_string, new_string, replace_all, start_line, end_line, new_content } = given
      refuseContradictions(given)
      return withoutUndefined({
        path: file_path,
        oldText: old_string,
        newText: parameterValue({ new_string, new_content }),
        replaceAll: replace_all,
        startLine: start_line,
        endLine: end_line,
        preview: given.preview,
        backup: given.create_backup,
      })
    },
    toResult: ({ path, changed, replacements, diff, backup }: Record<string, unknown>) =>
      withoutUndefined({ file_path: path, changed, replacements, diff, backup }),
    names: { oldText: "old_string", newText: "new_string", replaceAll: "replace_all" },
  }),
  defineAlias({
    name: "LS",
    dialect: "claude",
    tool: "list_files",
    description: "List the files and folders in a folder.",
    input: () =>
      z.object({
        path: text.min(1).optional().describe("The folder; the workspace when left out"),
      }),
    output: () => z.object({ files: z.array(z.unknown()), total: z.number() }),
    toInput: ({ path }) => withoutUndefined({ path }),
    toResult: ({ files, total }: Record<string, unknown>) => ({ files, total }),
  }),
  defineAlias({
    name: "Glob",
    dialect: "claude",
    tool: "find_files",
    description: "Find files by a glob, newest first.",
    input: () =>
      z.object({
        pattern: text.min(1).describe("For example src/**/*.ts"),
        path: text.min(1).optional().describe("The folder to look in"),
        exclude: z.array(text).optional().describe("Globs of what to leave out"),
        limit: z.int().min(1).optional().describe("How many to return"),
      }),
    output: () => z.object({ files: z.array(text), total: z.number() }),
    toInput: ({ limit, ...rest }) => withoutUndefined({ ...rest, limit: limit && Math.min(limit, 1000) }),
    toResult: ({ files, total }: Record<string, unknown>) => ({ files, total }),
  }),
  defineAlias({
    name: "Grep",
    dialect: "claude",
    tool: "search_files",
    description: "Search the content of files for a regular expression, as ripgrep does.",
    input: () =>
      z.object({
        pattern: text.min(1).describe("A regular expression"),
        path: text.min(1).optional().describe("The folder or file to search"),
        include: text.optional().describe("Glob of the files to search, for example *.ts"),
        glob: text.optional().describe("The same as include"),
        exclude: z
          .union([text, z.array(text)])
          .optional()
          .describe("Globs of what to leave out"),
        type: text.optional().describe("A kind of file, for example py"),
        output_mode: z.enum(["content", "files_with_matches", "count"]).optional().describe("content when left out"),
        context_lines: z.int().min(0).max(100).optional().describe("Lines around each match"),
        "-C": z.int().min(0).max(100).optional().describe("The same as context_lines"),
        "-A": z.int().min(0).max(100).optional().describe("Lines after each match"),
        "-B": z.int().min(0).max(100).optional().describe("Lines before each match"),
        "-n": z.boolean().optional().describe("Line numbers are always told"),
        "-i": z.boolean().optional().describe("The same as ignore_case"),
        "-o": z.boolean().optional().describe("Only what matched"),
        ignore_case: z.boolean().optional().describe("Letter case makes no difference"),
        multiline: z.boolean().optional().describe("A match may go over several lines"),
        max_results: z.int().min(1).optional().describe("How many to return"),
        head_limit: z.int().min(0).optional().describe("The same as max_results; 0 means as many as there may be"),
        offset: z.int().min(0).optional().describe("How many to leave out at the beginning"),
      }),
    output: () =>
      z.object({
        matches: z.array(z.unknown()).optional(),
        files: z.array(z.unknown()).optional(),
        total: z.number(),
        truncated: z.boolean(),
      }),
    toInput: (given) => {
      const limit = parameterValue({ max_results: given.max_results, head_limit: given.head_limit })
      const mode = given.output_mode ?? "content"
      return withoutUndefined({
        pattern: given.pattern,
        path: given.path,
        glob: parameterValue({ include: given.include, glob: given.glob }),
        exclude: given.exclude,
        type: given.type,
        output: mode === "content" ? "matches" : "files",
        context: parameterValue({ context_lines: given.context_lines, "-C": given["-C"] }),
        after: given["-A"],
        before: given["-B"],
        ignoreCase: parameterValue({ ignore_case: given.ignore_case, "-i": given["-i"] }),
        onlyMatching: given["-o"],
        multiline: given.multiline,
        limit: limit === undefined ? undefined : limit === 0 ? 1000 : Math.min(limit, 1000),
        offset: given.offset,
      })
    },
    toResult: ({ matches, files, total, truncated }: Record<string, unknown>) =>
      withoutUndefined({ matches, files, total, truncated }),
  }),
  defineAlias({
    name: "NotebookRead",
    dialect: "claude",
    tool: "read_notebook",
    description: "Read a Jupyter notebook cell by cell.",
    input: () =>
      z.object({
        file_path: filePath.optional(),
        notebook_path: filePath.optional().describe("The same as file_path"),
      }),
    output: () => z.object({ cells: z.array(z.unknown()), metadata: z.record(text, z.unknown()) }),
    toInput: ({ file_path, notebook_path }) => ({
      path: requiredParameterValue({ file_path, notebook_path }),
      outputs: "all",
    }),
    toResult: ({ cells, metadata }: { cells: Record<string, unknown>[]; metadata: unknown }) => ({
      cells: cells.map(({ executionCount, ...cell }) => withoutUndefined({ ...cell, execution_count: executionCount })),
      metadata,
    }),
  }),
  defineAlias({
    name: "NotebookEdit",
    dialect: "claude",
    tool: "edit_notebook",
    description: "Replace, insert or delete one cell of a Jupyter notebook, by its id or its place.",
    input: () =>
      z.object({
        file_path: filePath.optional(),
        notebook_path: filePath.optional().describe("The same as file_path"),
        cell_id: text.min(1).optional().describe("The cell by its id"),
        cell_number: z.int().min(0).optional().describe("Or by its place, from 0"),
        new_source: text.optional().describe("The new source; not for delete"),
        cell_type: z.enum(["code", "markdown", "raw"]).optional().describe("Needed for insert"),
        edit_mode: z.enum(["replace", "insert", "delete"]).optional().describe("replace when left out"),
      }),
    output: () => z.object({ cell_id: text.optional(), cell_type: text, edit_mode: text, new_source: text.optional() }),
    toInput: ({ file_path, notebook_path, cell_id, cell_number, new_source, cell_type, edit_mode }) => {
      failIf(cell_id !== undefined && cell_number !== undefined, "'cell_number' cannot stand together with 'cell_id'.")
      failIf(edit_mode !== "delete" && new_source === undefined, "'new_source' is missing.")
      failIf(edit_mode === "insert" && cell_type === undefined, "'cell_type' is missing; an insertion needs it.")
      failIf(edit_mode === "delete" && (new_source ?? "") !== "", "'new_source' is not for a deletion.")
      return withoutUndefined({
        path: requiredParameterValue({ file_path, notebook_path }),
        mode: edit_mode,
        cellId: cell_id,
        cellIndex: cell_number,
        // A deletion has no source, though models like to send an empty one.
        source: edit_mode === "delete" && new_source === "" ? undefined : new_source,
        cellType: edit_mode === "delete" ? undefined : cell_type,
      })
    },
    toResult: ({ cellId, cellType, mode, source }: Record<string, unknown>) =>
      withoutUndefined({ cell_id: cellId, cell_type: cellType, edit_mode: mode, new_source: source }),
    names: { cellId: "cell_id", cellIndex: "cell_number" },
  }),
]

interface GivenEdit {
  old_string?: string
  new_string?: string
  new_content?: string
  replace_all?: boolean
  start_line?: number
  end_line?: number
}

/** Refuses inputs that the tool itself would refuse too, in the names that its callers know. */
function refuseContradictions({ old_string, new_string, new_content, replace_all, start_line, end_line }: GivenEdit) {
  const byLine = start_line !== undefined
  failIf(!byLine && end_line !== undefined, "'end_line' needs 'start_line'.")
  failIf(!byLine && old_string === undefined, "'old_string' is missing; give it, or start_line for whole lines.")
  failIf(byLine && old_string !== undefined, "'start_line' cannot stand together with 'old_string'.")
  failIf(byLine && replace_all !== undefined, "'replace_all' needs 'old_string'.")
  failIf(byLine && (end_line ?? start_line) < start_line - 1, "'end_line' cannot be less than start_line - 1.")
  const name = byLine ? "new_content" : "new_string"
  failIf((new_string ?? new_content) === undefined, `'${name}' is missing; give it, empty to delete.`)
}
