/** What a file was when it was looked at: another version of it has another text. */
export type FileVersion = string

/** What is at a path, links inside the fence followed. */
export interface FileFacts {
  readonly kind: "file" | "folder" | "link" | "special"
  readonly size: number
  /** Milliseconds since 1970. */
  readonly modifiedAt: number
  readonly createdAt: number
  readonly accessedAt: number
  /** The permission bits. */
  readonly mode: number
  /** How many names the file has. */
  readonly links: number
  readonly version: FileVersion
  /** The real path, from the root of the disk. */
  readonly real: string
  /** The path from the workspace with slashes; the real path for what is in another root. */
  readonly path: string
}

/** A file that is open for reading. Whoever opens it closes it. */
export interface OpenFile extends FileFacts {
  /** Reads into `buffer` from `position`; 0 at the end. */
  read(buffer: Uint8Array, position: number): Promise<number>
  /** All of it, if it is no larger than `limit`; else a failure that says so. */
  readAll(limit: number): Promise<Buffer>
  close(): Promise<void>
}

export interface FolderEntry {
  readonly name: string
  readonly kind: FileFacts["kind"]
}

export interface WriteOptions {
  /** Refuses with `file_changed` when the file is another version; null: when there is a file at all. */
  readonly expected?: FileVersion | null | undefined
  /** Adds to the end instead of replacing. */
  readonly append?: boolean | undefined
  /** How many earlier versions are kept in the data folder; 0 keeps none. */
  readonly backups?: number | undefined
}

export interface Written {
  readonly created: boolean
  readonly bytesWritten: number
  readonly facts: FileFacts
  /** Where the version before it is kept, if it is. */
  readonly backup?: string | undefined
}

/** Which version of a file an agent has seen, and when. */
export interface ReadMark {
  readonly agentId: string
  /** The real path of the file. */
  readonly real: string
  readonly version: FileVersion
  /** Milliseconds since 1970. */
  readonly at: number
}

/** Marks of all processes that share a data folder. */
export interface MarkLog {
  add(mark: ReadMark): void
  /** What was added since the last time, here or by another process. Looks at the disk. */
  news(): Iterable<ReadMark>
}

export interface TrashItem {
  readonly id: string
  /** Where it was, from the workspace. */
  readonly path: string
  readonly kind: FileFacts["kind"]
  readonly size: number
  readonly deletedAt: number
  /** Who deleted it, or whose command made it; empty where nobody knows. */
  readonly agentId: string
  /** Why it was taken away from the command that made it; what an agent deleted has none. Programs may run what is in it. */
  readonly taken?: string | undefined
}

/** How long what is in the trash is kept. What was put in last is kept in any case. */
export interface TrashLimits {
  readonly days: number
  /** Of all together; the oldest go first. A megabyte is 1024 * 1024 bytes. */
  readonly maxMb: number
}

export const usualTrash: TrashLimits = { days: 30, maxMb: 1024 }

/**
 * The fence: every tool that uses files works through it, and nothing outside the workspace and the further roots is read
 * or written, whatever links do meanwhile. Paths are relative to the workspace or absolute. What is refused is a
 * `failure` with a sentence and one of these codes: `outside` `sealed` `file_not_found` `is_folder` `not_a_folder`
 * `special_file` `unreadable` `too_large` `linked` (more than one name) `file_changed` `exists` `bad_path` `no_space`.
 */
export interface Files {
  /** The real path of the workspace. */
  readonly workspace: string
  /** The same fence for one call: narrower, never wider. `shows` says what a search may come across besides. */
  within(allowedPaths: readonly string[] | undefined, shows?: (path: string) => boolean): Files
  /** The normal form of a path: from the workspace with slashes, `.` for the workspace itself. Does not look at the disk. */
  normal(path: string): string
  facts(path: string): FileFacts
  /** Opens a regular file to read it; links that stay inside are followed. */
  open(path: string): Promise<OpenFile>
  /** A small file at once, without leaving the turn; undefined when it is larger than `most`. */
  readSmall(path: string, most: number): { readonly bytes: Buffer; readonly facts: FileFacts } | undefined
  list(path: string): Promise<FolderEntry[]>
  /** Makes the folders above it as needed. The change is seen whole or not at all; mode and owner stay. */
  write(path: string, bytes: Uint8Array, options?: WriteOptions): Promise<Written>
  /** Also across devices and for folders. Nothing is overwritten unless `overwrite` is said. */
  move(from: string, to: string, options?: { overwrite?: boolean }): Promise<FileFacts>
  /** Moves a file, link or folder out of the workspace into the trash, from where a person can bring it back. */
  trash(path: string, agentId: string): Promise<TrashItem>
  /** Names near one that is not there, for a suggestion; at most three. */
  near(path: string): string[]
  /** Whether a search may show what is in there: sealed and careful files are skipped. `path` is from the workspace. */
  isShown(path: string): boolean
}

/** What was deleted, or taken away from commands, and can be brought back. Not for agents. */
export interface Trash {
  /** Newest first. */
  list(): Promise<TrashItem[]>
  /** A unique beginning of the id is enough. */
  find(id: string): Promise<TrashItem>
  /** To where it was, unless something is there now. */
  restore(id: string): Promise<TrashItem>
}

/** The same for a person, who is written down with what they bring back. */
export interface TrashDoor extends Pick<Trash, "list" | "find"> {
  restore(id: string, by: string): Promise<TrashItem>
}
