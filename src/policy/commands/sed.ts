/**
 * Whether a sed script only changes the text that flows through it: it runs nothing and opens no file. Whatever is not
 * known here counts as if it did.
 */
export function isPlainSed(script: string): boolean {
  const reader = { script, at: 0 }
  while (reader.at < script.length) if (!command(reader)) return false
  return true
}

interface Reader {
  readonly script: string
  at: number
}

function command(reader: Reader): boolean {
  skip(reader, /[\s;}]*/y)
  if (reader.at >= reader.script.length) return true
  if (!address(reader)) return false
  if (take(reader, ",") && !address(reader, true)) return false
  skip(reader, /\s*!*\s*/y)
  const letter = reader.script[reader.at++]
  if (letter === "{" || letter === "#") {
    if (letter === "#") skip(reader, /[^\n]*/y)
    return true
  }
  if (letter === "s") return substitution(reader)
  if (letter === "y") return delimited(reader, 2) && ends(reader)
  if (letter === ":") return label(reader)
  if (letter === "a" || letter === "i" || letter === "c") return text(reader)
  if (letter === "b" || letter === "t" || letter === "T") {
    skip(reader, /[ \t]*\w*/y)
    return ends(reader)
  }
  if (letter === "q" || letter === "Q" || letter === "l") skip(reader, /\s*\d*/y)
  else if (letter === undefined || !"pPdDnNgGhHx=z".includes(letter)) return false
  return ends(reader)
}

/**
 * For some, what stands behind a label is the next command; for others all of the line is its name. Then less is run, and
 * nothing else.
 */
function label(reader: Reader): boolean {
  const start = reader.at
  skip(reader, /[ \t]*\w+[ \t]*/y)
  return reader.at > start && (reader.at >= reader.script.length || ";\n".includes(reader.script[reader.at]!))
}

/** Text up to the end of the line. A backslash before that would make a text of the next one, or of the next script. */
function text(reader: Reader): boolean {
  const start = reader.at
  skip(reader, /[ \t]*[^\n]*/y)
  return /[^\s\\][^\\]*$/.test(reader.script.slice(start, reader.at))
}

function ends(reader: Reader): boolean {
  skip(reader, /[ \t]*/y)
  return reader.at >= reader.script.length || ";}\n#".includes(reader.script[reader.at]!)
}

function address(reader: Reader, second = false): boolean {
  skip(reader, /\s*/y)
  const character = reader.script[reader.at]
  if (character === "/" || character === "\\") {
    if (character === "\\") reader.at++
    if (!delimited(reader, 1)) return false
    skip(reader, /[IM]*/y)
  } else skip(reader, second ? /[+~]?(?:\d+|\$)/y : /\d+(?:~\d+)?|\$/y)
  skip(reader, /\s*/y)
  return true
}

function substitution(reader: Reader): boolean {
  if (!delimited(reader, 2)) return false
  skip(reader, /[gpiIm0-9]*/y)
  return ends(reader)
}

/** So many parts, each ended by the character that begins them. */
function delimited(reader: Reader, parts: number): boolean {
  const end = reader.script[reader.at++]
  if (end === undefined || /[\w\s\\;]/.test(end)) return false
  for (let part = 0; part < parts; part++) {
    for (;;) {
      const character = reader.script[reader.at++]
      if (character === undefined || character === "\n") return false
      if (character === "\\") reader.at++
      else if (character === end) break
      // Where a bracket hides the end is told differently by different programs.
      else if (character === "[" && part === 0) {
        const close = /^\[\^?\]?[^\]\\[]*\]/.exec(reader.script.slice(reader.at - 1))?.[0]
        if (close === undefined || close.includes(end)) return false
        reader.at += close.length - 1
      }
    }
  }
  return true
}

function take(reader: Reader, character: string): boolean {
  if (reader.script[reader.at] !== character) return false
  reader.at++
  return true
}

function skip(reader: Reader, pattern: RegExp): void {
  pattern.lastIndex = reader.at
  reader.at += pattern.exec(reader.script)?.[0].length ?? 0
}
