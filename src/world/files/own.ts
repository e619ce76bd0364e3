import type { Doors, Folder } from "./folder.ts"
import { refused } from "./refused.ts"
import { openOrMake } from "./stand.ts"

/** Where the fence keeps what it must not lose. */
export interface Own {
  readonly doors: Doors
  /** The real path of the data folder. */
  readonly dataFolder: string
}

/** A folder in the data folder, for its owner alone, made if needed. Nobody can have put a link in the way. */
export function openOwn({ doors, dataFolder }: Own, ...names: readonly string[]): Folder {
  let folder = doors.open(dataFolder)
  if (folder.real !== dataFolder) {
    folder.close()
    throw refused(
      "sealed",
      "The data folder of Quartermaster was moved while it worked. Ask a person to start it again.",
    )
  }
  for (const name of names) {
    const above = folder
    try {
      folder = openOrMake(doors, above, name, 0o700)
    } finally {
      above.close()
    }
  }
  return folder
}
