import type { Unread, Word } from "./line.ts"
import { readOptions, type OptionTable, type ReadOptions } from "./options.ts"
import type { Program, Use } from "./programs.ts"

/** A program whose options are those of a table, and what it uses by what they come to. */
export function reader(table: OptionTable, of: (read: ReadOptions) => Use | Unread): Program {
  return (args) => {
    const read = readOptions(args, table)
    if ("because" in read) return read
    const use = of(read)
    return "because" in use ? use : { ...use, reads: [...(use.reads ?? []), ...read.reads] }
  }
}

/** A dash alone is what is piped into the program. */
export const isFile = ({ value }: Word): boolean => value !== "-"

/** Nobody can tell what it uses, because of this. */
export const is = (because: string): Unread => ({ because })

/** The folder it runs in. */
export const here: Word = { value: ".", glob: -1 }
