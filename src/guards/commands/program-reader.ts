import type { Unprovable, Word } from "./shell-line.ts"
import { readOptions, type OptionTable, type ParsedOptions } from "./program-options.ts"
import type { Program, ProgramUse } from "./programs.ts"

/** A program whose options are parsed by a table; `useOf` says what it uses with them. */
export function programReader(table: OptionTable, useOf: (read: ParsedOptions) => ProgramUse | Unprovable): Program {
  return (args) => {
    const read = readOptions(args, table)
    if ("because" in read) return read
    const use = useOf(read)
    return "because" in use ? use : { ...use, reads: [...(use.reads ?? []), ...read.reads] }
  }
}

/** A single dash means standard input. */
export const isFileOperand = ({ value }: Word): boolean => value !== "-"

export const unprovable = (because: string): Unprovable => ({ because })

/** The folder the program runs in. */
export const currentFolder: Word = { value: ".", glob: -1 }
