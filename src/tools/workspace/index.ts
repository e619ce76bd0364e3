import type { Files, MarkLog } from "../../model/files.ts"
import type { Tool } from "../../model/tool.ts"
import type { Workspace } from "./options.ts"
import { deleteFile } from "./delete-file.ts"
import { editFile } from "./edit-file.ts"
import { editNotebook } from "./edit-notebook.ts"
import { findFiles } from "./find-files.ts"
import { getFileInfo } from "./get-file-info.ts"
import { getWorkspaceInfo } from "./get-workspace-info.ts"
import { listFiles } from "./list-files.ts"
import { moveFile } from "./move-file.ts"
import { readFile } from "./read-file.ts"
import { readMarks } from "./read-marks.ts"
import { readNotebook } from "./read-notebook.ts"
import { searchFiles } from "./search-files.ts"
import { turns } from "./turns.ts"
import { writeFile } from "./write-file.ts"

/** What the configuration says about files. */
export interface WorkspaceSettings {
  readonly maxFileSize?: number | undefined
  /** With or without their dot; none means every kind of file. */
  readonly allowedExtensions?: readonly string[] | undefined
  readonly backups?: number | undefined
}

/** `log` makes what agents have read known to other processes and later ones. */

export function workspaceTools(files: Files, settings: WorkspaceSettings = {}, log?: MarkLog): Tool[] {
  const workspace: Workspace = {
    files,
    maxFileSize: settings.maxFileSize ?? 10 * 1024 * 1024,
    allowedExtensions: (settings.allowedExtensions ?? []).map((one) =>
      one === "" || one.startsWith(".") ? one.toLowerCase() : `.${one.toLowerCase()}`,
    ),
    backups: settings.backups ?? 10,
    marks: readMarks(log),
    turns: turns(),
  }
  return [
    readFile(workspace),
    writeFile(workspace),
    editFile(workspace),
    listFiles(workspace),
    findFiles(workspace),
    searchFiles(workspace),
    deleteFile(workspace),
    moveFile(workspace),
    getFileInfo(workspace),
    getWorkspaceInfo(workspace),
    readNotebook(workspace),
    editNotebook(workspace),
  ]
}
