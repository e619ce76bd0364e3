import { openOrCreateFolder, type FolderOpener, type FolderHandle } from "./folder-handle.ts"
import { fileFailure } from "./file-failures.ts"

/** The data folder, where backups and the trash are. */
export interface DataFolderAccess {
  readonly opener: FolderOpener
  /** The real path of the data folder. */
  readonly dataFolder: string
}

/** Opens a folder in the data folder, creating it for the owner alone if it is missing. Never follows a link. */
export function openInDataFolder({ opener, dataFolder }: DataFolderAccess, ...names: readonly string[]): FolderHandle {
  let folder = opener.open(dataFolder)
  if (folder.real !== dataFolder) {
    folder.close()
    throw fileFailure(
      "sealed",
      "Quartermaster's data folder was moved while it was running. Ask a person to restart Quartermaster.",
    )
  }
  for (const name of names) {
    const parent = folder
    try {
      folder = openOrCreateFolder(opener, parent, name, 0o700)
    } finally {
      parent.close()
    }
  }
  return folder
}
