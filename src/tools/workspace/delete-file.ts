import { counted } from "../../lib/counted.ts"
import { z } from "zod"
import { defineTool } from "../../schema/define-tool.ts"
import { failure } from "../../core/ending.ts"
import type { Files } from "../../platform/files/file-access.ts"
import { filesFor, checkExtension, withSuggestions, type Workspace } from "./workspace.ts"

/** Deletes by moving to the trash, from which a person can restore. Of a link, the link itself is deleted. */
export const deleteFile = (workspace: Workspace) =>
  defineTool({
    name: "delete_file",
    group: "workspace",
    category: "file",
    description:
      "Delete a file. It goes to the trash, from where a person can bring it back. A folder with something in it needs recursive.",
    effect: "write",
    permission: { dangerous: true },
    destructive: true,
    input: () =>
      z.object({
        path: z.string().min(1).describe("What to delete, for example notes/old.md"),
        recursive: z.boolean().default(false).describe("Also a folder, with all that is in it"),
      }),
    output: () =>
      z.object({
        deleted: z.boolean(),
        path: z.string(),
        type: z.string(),
        size: z.number(),
        trashId: z.string(),
      }),
    touches: ({ path }) => [{ kind: "write", what: path }],

    async preview({ path, recursive }) {
      const { kind, size } = await describe(workspace.files, path)
      const what = kind === "folder" ? `the folder with ${entriesText(size)}` : `the ${kind}, ${counted(size, "byte")}`
      const only = kind === "folder" && size > 0 && !recursive ? " This is refused without recursive." : ""
      return `Delete ${path}: ${what}.${only} 'qm trash restore' restores it.`
    },

    async execute({ path, recursive }, context) {
      const files = filesFor(workspace, context)
      const { kind, size: entries } = await describe(files, path)
      if (kind === "folder" && entries > 0 && !recursive) {
        const sentence = `'${path}' is a folder with ${entriesText(entries)}. Call again with recursive: true to delete all of it.`
        throw failure(sentence, { toolCode: "is_folder" })
      }
      if (kind === "file") checkExtension(path, workspace)
      const { id, path: from, kind: was, size } = await files.trash(path, context.agent.id)
      return { deleted: true, path: from, type: was === "folder" ? "directory" : was, size, trashId: id }
    },
  })

function entriesText(count: number): string {
  return `${count} ${count === 1 ? "entry" : "entries"}`
}

/** Describes the entry at a path. The size of a folder is the number of its entries. */
async function describe(files: Files, path: string): Promise<{ kind: string; size: number }> {
  const link = await linkAt(files, path)
  if (link) return { kind: "link", size: 0 }
  try {
    const { kind, size } = files.facts(path)
    return { kind, size: kind === "folder" ? (await files.list(path)).length : size }
  } catch (error) {
    throw withSuggestions(error, path, files)
  }
}

/** Reports whether the name itself is a link. */
async function linkAt(files: Files, path: string): Promise<boolean> {
  const normal = files.normalize(path)
  const slash = normal.lastIndexOf("/")
  const parent = slash === -1 ? "." : normal.slice(0, slash) || "/"
  const entries = await files.list(parent).catch(() => [])
  return entries.some(({ name, kind }) => kind === "link" && name === normal.slice(slash + 1))
}
