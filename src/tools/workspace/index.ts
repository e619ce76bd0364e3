import type { Files, ReadMarkLog } from "../../platform/files/file-access.ts"
import type { Tool } from "../../core/tool.ts"
import type { Workspace } from "./workspace.ts"
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
import { createPathLocks } from "./path-locks.ts"
import { writeFile } from "./write-file.ts"

/** The file settings of the configuration. */
export interface WorkspaceSettings {
  readonly maxFileSize?: number
  /** With or without their dot; none means every kind of file. */
  readonly allowedExtensions?: readonly string[]
  readonly backups?: number
}

/** With `log`, other and later processes know which files agents have read. */
export function workspaceTools(files: Files, settings: WorkspaceSettings = {}, log?: ReadMarkLog): Tool[] {
  const workspace: Workspace = {
    files,
    maxFileSize: settings.maxFileSize ?? 10 * 1024 * 1024,
    allowedExtensions: (settings.allowedExtensions ?? []).map((extension) =>
      extension === "" || extension.startsWith(".") ? extension.toLowerCase() : `.${extension.toLowerCase()}`,
    ),
    backups: settings.backups ?? 10,
    readMarks: readMarks(log),
    locks: createPathLocks(),
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
