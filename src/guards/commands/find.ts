import type { Unprovable, Word } from "./shell-line.ts"
import type { ProgramUse } from "./programs.ts"

const alone = setOf(
  "-print -print0 -prune -ls -depth -d -mount -xdev -empty -readable -writable -executable -true -false -quit -daystart -nouser -nogroup -noleaf -ignore_readdir_race -noignore_readdir_race",
)
const withText = setOf(
  "-name -iname -path -ipath -wholename -iwholename -regex -iregex -type -xtype -size -mtime -mmin -ctime -cmin -atime -amin -maxdepth -mindepth -perm -user -group -uid -gid -links -inum -fstype -regextype -printf -lname -ilname -used -newerat -newerBt -newerct -newermt",
)
const withFile = setOf("-newer -anewer -cnewer -samefile")

/** find only prints names, unless its expression runs, deletes or writes something. */
export function readFind(args: readonly Word[]): ProgramUse | Unprovable {
  const start = args.findIndex(({ value }) => /^[-!(,]/.test(value) && value !== "-H" && value !== "-P")
  const folders = args.slice(0, start === -1 ? undefined : start).filter(({ value }) => !value.startsWith("-"))
  if (folders.some(({ glob }) => glob === 0)) return { because: "a pattern could expand to an action of find" }
  const reads = readExpression(start === -1 ? [] : args.slice(start))
  if ("because" in reads) return reads
  return { reads: [...(folders.length === 0 ? [{ value: ".", glob: -1 }] : folders), ...reads] }
}

/** The files that an expression of find names. */
function readExpression(words: readonly Word[]): Word[] | Unprovable {
  const reads: Word[] = []
  const has = (name: RegExp) => words.filter(({ value }) => name.test(value)).length
  // With these options find may ignore -prune or the first -maxdepth.
  if ((has(/^-prune$/) > 0 && has(/^-(?:d|depth|mindepth)$/) > 0) || has(/^-maxdepth$/) > 1)
    return { because: "it is not clear how deep find looks" }
  let open = 0
  let expectsTest = words.length > 0
  for (let at = 0; at < words.length; at++) {
    const { value, glob } = words[at]!
    if (glob !== -1) return { because: `the pattern '${value}' is expanded before find sees it` }
    const isOperator = /^(?:,|-o|-or|-a|-and)$/.test(value)
    if (value === "(") open++
    if (value === ")") open--
    if (open < 0 || (expectsTest && (isOperator || value === ")")))
      return { because: `'${value}' stands where find does not expect it` }
    expectsTest = isOperator || /^(?:!|-not|\()$/.test(value)
    if (expectsTest || value === ")" || alone.has(value)) continue
    if (!withText.has(value) && !withFile.has(value))
      return { because: `the action '${value}' of find is not known to be harmless` }
    const next = words[++at]
    if (next === undefined || next.glob !== -1) return { because: `what follows '${value}' is not one plain word` }
    if (withFile.has(value)) reads.push(next)
  }
  return expectsTest || open > 0 ? { because: "the expression of find ends too soon" } : reads
}

const fileTests = setOf("-e -f -d -r -w -x -s -L -h -b -c -p -S -g -u -k -O -G -N -nt -ot -ef")
const otherTests = setOf("-z -n = == != < > -eq -ne -lt -le -gt -ge -a -o ! ( )")

/** `test` and `[`. Other operators of the shell's built-in test may evaluate their operands. */
export function readTest(args: readonly Word[]): ProgramUse | Unprovable {
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
