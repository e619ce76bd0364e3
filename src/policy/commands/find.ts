import { expand, type Disk } from "./disk.ts"
import { fitsPattern, isOfKind, namesFound, type Expression, type Found } from "./find-names.ts"
import { refuse, Refusal } from "./cursor.ts"
import type { Unread, Word } from "./line.ts"
import type { Use } from "./programs.ts"

const alone = setOf(
  "-ls -depth -d -mount -xdev -empty -readable -writable -executable -true -false -quit -daystart -nouser -nogroup -noleaf -ignore_readdir_race -noignore_readdir_race",
)
const withText = setOf(
  "-name -iname -path -ipath -wholename -iwholename -regex -iregex -type -xtype -size -mtime -mmin -ctime -cmin -atime -amin -maxdepth -mindepth -perm -user -group -uid -gid -links -inum -fstype -regextype -printf -lname -ilname -used",
)
const withFile = setOf("-newer -anewer -cnewer -samefile")

/** find only names what it finds, as long as nothing in its expression deletes or writes, and what it runs is proved too. */
export function readFind(args: readonly Word[]): Use | Unread {
  const start = args.findIndex(({ value }) => /^[-!(,]/.test(value) && value !== "-H" && value !== "-P")
  const folders = args.slice(0, start === -1 ? undefined : start).filter(({ value }) => !value.startsWith("-"))
  if (folders.some(({ glob }) => glob === 0)) return { because: "a pattern could stand for an action of find" }
  const reader: Reader = { words: start === -1 ? [] : args.slice(start), at: 0, reads: [], runs: [] }
  try {
    const expression = readExpression(reader)
    return useOf(folders.length === 0 ? [{ value: ".", glob: -1 }] : folders, expression, reader)
  } catch (error) {
    if (error instanceof Refusal) return { because: error.message }
    throw error
  }
}

function useOf(roots: readonly Word[], expression: Expression, { reads, runs, depth = Infinity, prints }: Reader): Use {
  const isAction = prints !== undefined || runs.length > 0
  const whole: Expression = isAction ? expression : { kind: "all", parts: [expression, { kind: "print" }] }
  const found = (folder: string, disk: Disk): Found | undefined => {
    const places: string[] = []
    for (const root of roots) {
      const some = expand(root, folder, disk)
      if (some === undefined) return undefined
      places.push(...some)
    }
    return namesFound(places, { expression: whole, depth }, folder, disk)
  }
  // What it runs prints too, and that could be anything.
  const end = runs.length > 0 ? "text" : (prints ?? "\n")
  return {
    reads: [...roots, ...reads],
    ...(end === "\n" || end === "\0" ? { prints: { end, names: (folder, disk) => found(folder, disk)?.printed } } : {}),
    runs: runs.map((words, at) => ({
      words,
      names(folder, disk) {
        const all = found(folder, disk)
        return all && (all.given.get(at) ?? [])
      },
    })),
  }
}

interface Reader {
  readonly words: readonly Word[]
  at: number
  readonly reads: Word[]
  /** The commands it runs, without the names, which come last. */
  readonly runs: (readonly Word[])[]
  depth?: number
  /** What ends each name it prints itself; "text" when it prints something else too. */
  prints?: "\n" | "\0" | "text"
}

function readExpression(reader: Reader): Expression {
  if (reader.words.length === 0) return { kind: "answer", answer: "yes" }
  const expression = series(reader, "each", setOf(","), () =>
    series(reader, "any", setOf("-o -or"), () => conjunction(reader)),
  )
  if (reader.at < reader.words.length) refuse(`'${reader.words[reader.at]!.value}' stands where find wants none`)
  return expression
}

function series(
  reader: Reader,
  kind: "any" | "each",
  between: ReadonlySet<string>,
  read: () => Expression,
): Expression {
  const parts = [read()]
  while (between.has(peek(reader))) {
    reader.at++
    parts.push(read())
  }
  return parts.length === 1 ? parts[0]! : { kind, parts }
}

function conjunction(reader: Reader): Expression {
  const parts: Expression[] = []
  do {
    if (parts.length > 0 && /^-a(?:nd)?$/.test(peek(reader))) reader.at++
    parts.push(one(reader))
  } while (reader.at < reader.words.length && !/^(?:\)|,|-o|-or)$/.test(peek(reader)))
  return { kind: "all", parts }
}

function peek({ words, at }: Reader): string {
  return words[at]?.value ?? ""
}

function one(reader: Reader): Expression {
  const { value, glob } = reader.words[reader.at++] ?? refuse("the expression of find ends too soon")
  if (glob !== -1) refuse(`the pattern '${value}' is expanded before find sees it`)
  if (value === "!" || value === "-not") return { kind: "not", part: one(reader) }
  if (value === "(") {
    const inner = series(reader, "each", setOf(","), () =>
      series(reader, "any", setOf("-o -or"), () => conjunction(reader)),
    )
    if (peek(reader) !== ")") refuse("a bracket of find does not end")
    reader.at++
    return inner
  }
  return action(value, reader) ?? test(value, reader)
}

function action(value: string, reader: Reader): Expression | undefined {
  if (value === "-prune") return { kind: "prune" }
  if (value === "-print" || value === "-print0") {
    const end = value === "-print" ? "\n" : "\0"
    reader.prints = reader.prints === undefined || reader.prints === end ? end : "text"
    return { kind: "print" }
  }
  if (value === "-exec") return run(reader)
  if (value === "-ls" || value === "-printf") reader.prints = "text"
  return undefined
}

/** `-exec program words {} +` or `\;` */
function run(reader: Reader): Expression {
  const rest = reader.words.slice(reader.at)
  const end = rest.findIndex(({ value }, at) => value === ";" || (value === "+" && rest[at - 1]?.value === "{}"))
  const words = rest.slice(0, Math.max(end, 0))
  if (end === -1 || words.at(-1)?.value !== "{}" || words.slice(0, -1).some(({ value }) => value.includes("{}")))
    refuse("'-exec' of find is not one of a command that ends with the names")
  // A file with the name ';' would end the command there, and the words behind it would be find's own.
  const odd = words.find(({ glob }) => glob !== -1)
  if (odd !== undefined) refuse(`the pattern '${odd.value}' is expanded before find sees it`)
  reader.at += end + 1
  return { kind: "run", number: reader.runs.push(words.slice(0, -1)) - 1 }
}

function test(value: string, reader: Reader): Expression {
  const maybe: Expression = { kind: "answer", answer: "maybe" }
  if (value === "-true" || value === "-false") return { kind: "answer", answer: value === "-true" ? "yes" : "no" }
  // Then folders come after what is in them, or are not looked at, and nothing is left out.
  if (/^-(?:d|depth|mindepth)$/.test(value) && reader.words.some((word) => word.value === "-prune"))
    refuse(`'${value}' of find may make '-prune' mean nothing`)
  if (alone.has(value)) return maybe
  const takesText = withText.has(value) || /^-newer[aBcm]t$/.test(value)
  if (!takesText && !withFile.has(value)) refuse(`the action '${value}' of find is not known to be harmless`)
  const next = reader.words[reader.at++]
  if (next === undefined || next.glob !== -1) refuse(`what follows '${value}' is not one plain word`)
  if (!takesText) reader.reads.push(next)
  const pattern = /^-(i?)(name|path|wholename)$/.exec(value)
  if (pattern !== null) return fitsPattern(next.value, pattern[1] === "i", pattern[2] === "name" ? "name" : "path")
  if (value === "-type") return isOfKind(next.value)
  if (value === "-maxdepth") setDepth(reader, next.value)
  return value === "-maxdepth" || value === "-mindepth" ? { kind: "answer", answer: "yes" } : maybe
}

function setDepth(reader: Reader, text: string): void {
  if (reader.depth !== undefined) refuse("find is given two depths")
  reader.depth = /^\d{1,3}$/.test(text) ? Number(text) : Infinity
}

const fileTests = setOf("-e -f -d -r -w -x -s -L -h -b -c -p -S -g -u -k -O -G -N -nt -ot -ef")
const otherTests = setOf("-z -n = == != < > -eq -ne -lt -le -gt -ge -a -o ! ( )")

/** `test` and `[`. Other operators of the shell's own test evaluate what they are given. */
export function readTest(args: readonly Word[]): Use | Unread {
  const reads: Word[] = []
  const words = args.at(-1)?.value === "]" ? args.slice(0, -1) : args
  for (const [at, word] of words.entries()) {
    if (word.glob !== -1 || /[$`]/.test(word.value)) return { because: "a word of the test could be evaluated" }
    if (!/^-[A-Za-z]+$/.test(word.value)) continue
    if (!fileTests.has(word.value) && !otherTests.has(word.value))
      return { because: `the test '${word.value}' is not known to be harmless` }
    if (!fileTests.has(word.value)) continue
    const next = words[at + 1]
    if (next !== undefined) reads.push(next)
    if (word.value.length === 3 && at > 0) reads.push(words[at - 1]!)
  }
  return { reads }
}

function setOf(names: string): ReadonlySet<string> {
  return new Set(names.split(" "))
}
