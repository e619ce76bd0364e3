/** Identifies the content of a file at one moment: two versions of a file have different texts. */
export type FileVersion = string

/** The entry at a path. Links are followed when they stay inside the file roots. */
export interface FileFacts {
  readonly kind: "file" | "folder" | "link" | "special"
  readonly size: number
  /** Milliseconds since 1970. */
  readonly modifiedAt: number
  readonly createdAt: number
  readonly accessedAt: number
  /** The permission bits. */
  readonly mode: number
  /** The number of hard links. */
  readonly links: number
  readonly version: FileVersion
  /** The real path, from the root of the disk. */
  readonly real: string
  /** The path relative to the workspace, with slashes; the real path for a file in another root. */
  readonly path: string
}

/** A file that is open for reading. The caller must close it. */
export interface OpenFile extends FileFacts {
  /** Reads into `buffer` from `position`. Returns 0 at the end of the file. */
  read(buffer: Uint8Array, position: number): Promise<number>
  /** Reads the whole file. Fails when it is larger than `limit`. */
  readAll(limit: number): Promise<Buffer>
  close(): Promise<void>
}

export interface FolderEntry {
  readonly name: string
  readonly kind: FileFacts["kind"]
}

export interface WriteOptions {
  /** Fails with `file_changed` when the file has another version. Null: when there is a file at all. */
  readonly expected?: FileVersion | null
  /** Appends instead of replacing. */
  readonly append?: boolean
  /** The number of earlier versions to keep in the data folder. 0 keeps none. */
  readonly backups?: number
}

export interface WriteResult {
  readonly created: boolean
  readonly bytesWritten: number
  readonly facts: FileFacts
  /** The path of the backup of the version before, if there is one. */
  readonly backup?: string
}

/** The version of a file that an agent has read, and the time. */
export interface ReadMark {
  readonly agentId: string
  /** The real path of the file. */
  readonly real: string
  readonly version: FileVersion
  /** Milliseconds since 1970. */
  readonly at: number
}

/** The read marks of all processes that share a data folder. */
export interface ReadMarkLog {
  add(mark: ReadMark): void
  /** The marks added since the last call, by this or another process. Reads the disk. */
  readNew(): Iterable<ReadMark>
}

export interface TrashItem {
  readonly id: string
  /** Its former path, relative to the workspace. */
  readonly path: string
  readonly kind: FileFacts["kind"]
  /** The size of all files in it. 0 for a large folder until the next cleanup. */
  readonly size: number
  readonly deletedAt: number
  /** The agent that deleted it. */
  readonly agentId: string
  /**
   * Why an earlier version of Quartermaster removed it after a command had created it. Other programs may run its
   * content.
   */
  readonly taken?: string
}

/** Limits of the trash for deleted files. The newest one is always kept. */
export interface TrashLimits {
  readonly days: number
  /** Of all deleted files together; the oldest are removed first. A megabyte is 1024 * 1024 bytes. */
  readonly maxMb: number
}

export const defaultTrashLimits: TrashLimits = { days: 30, maxMb: 1024 }

/**
 * The only way tools use files. Nothing outside the workspace and the other file roots is read or written, even when
 * links change meanwhile. Paths are relative to the workspace or absolute. A refusal is a `failure` with one of these
 * codes: `outside` `sealed` (a protected path) `file_not_found` `is_folder` `not_a_folder` `special_file` `unreadable`
 * `too_large` `linked` (more than one hard link) `file_changed` `exists` `bad_path` `no_space`.
 */
export interface Files {
  /** The real path of the workspace. */
  readonly workspace: string
  /** The same for one call, limited to `allowedPaths`. `shows` decides which files a search may show. */
  within(allowedPaths: readonly string[] | undefined, shows?: (path: string) => boolean): Files
  /** The path relative to the workspace, with slashes; `.` for the workspace itself. Does not read the disk. */
  normalize(path: string): string
  facts(path: string): FileFacts
  /** Opens a regular file for reading. Links that stay inside the roots are followed. */
  open(path: string): Promise<OpenFile>
  /** Reads a small file synchronously. Undefined when it is larger than `most`. */
  readSmall(path: string, most: number): { readonly bytes: Buffer; readonly facts: FileFacts } | undefined
  list(path: string): Promise<FolderEntry[]>
  /** Writes atomically and keeps mode and owner. Creates missing parent folders. */
  write(path: string, bytes: Uint8Array, options?: WriteOptions): Promise<WriteResult>
  /** Moves a file or folder, also across devices. Overwrites nothing without `overwrite`. */
  move(from: string, to: string, options?: { overwrite?: boolean }): Promise<FileFacts>
  /** Moves a file, link or folder into the trash, from where a person can restore it. */
  trash(path: string, agentId: string): Promise<TrashItem>
  /** At most three similar names for a path that does not exist, for "Did you mean …?". */
  similarNames(path: string): string[]
  /**
   * Reports whether a search may show the file: protected and confirmed paths are skipped. `path` is relative to the
   * workspace.
   */
  isShown(path: string): boolean
}

/** Deleted files that can be restored. Not available to agents. */
export interface Trash {
  /** Newest first. */
  list(): Promise<TrashItem[]>
  /** A unique beginning of the id is enough. */
  find(id: string): Promise<TrashItem>
  /** Moves it back to where it was. Fails when something is there now. */
  restore(id: string): Promise<TrashItem>
}

/** The same for people. The audit log names who restored what. */
export interface TrashAdmin extends Pick<Trash, "list" | "find"> {
  restore(id: string, by: string): Promise<TrashItem>
}
