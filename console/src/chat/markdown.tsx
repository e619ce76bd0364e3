import { memo, useMemo, type ComponentProps } from "react"
import Read, { type Components } from "react-markdown"
import gfm from "remark-gfm"
import { printable } from "../../../src/lib/printable.ts"
import { highlightAs } from "../card/highlight.ts"
import { HighlightedLines } from "../card/highlighted-lines.tsx"
import { CopyButton } from "../ui/copy-text.tsx"
import { isReadable, splitWritten } from "./readable.ts"
import look from "./markdown.module.css"

/**
 * Shows a model's text as Markdown. There is no HTML in it: tags are shown as text. Images are not loaded, links say
 * where they lead, and characters that nobody sees are codes.
 */
export function Markdown({ text, isWritten = false }: { text: string; isWritten?: boolean }) {
  const [settled, written] = useMemo(() => (isWritten ? splitWritten(text) : [text, ""]), [text, isWritten])
  return (
    <div className={look["text"]} data-written={isWritten || undefined}>
      {settled !== "" && <Part text={settled} />}
      {(written !== "" || isWritten) && <Part text={written} />}
    </div>
  )
}

const Part = memo(function Part({ text }: { text: string }) {
  const shown = useMemo(() => printable(text.replaceAll("\r\n", "\n")), [text])
  if (!isReadable(shown)) return <pre className={look["raw"]}>{shown.slice(0, mostShown)}</pre>
  return (
    <Read remarkPlugins={plugins} components={components}>
      {shown}
    </Read>
  )
})

/** Characters of a text that is shown as it is written. */
const mostShown = 200_000
const plugins = [gfm]

const heading = ({ children }: ComponentProps<"h1">) => <p className={look["heading"]}>{children}</p>

const components: Components = {
  h1: heading,
  h2: heading,
  h3: heading,
  h4: heading,
  h5: heading,
  h6: heading,
  a: ({ href, children }) => <Linked to={href}>{children}</Linked>,
  img: ({ src, alt }) => <Linked to={typeof src === "string" ? src : undefined}>{alt === "" ? "image" : alt}</Linked>,
  pre: ({ children }) => <>{children}</>,
  table: ({ children }) => (
    <div className={look["wide"]} tabIndex={0} role="group">
      <table>{children}</table>
    </div>
  ),
  code: ({ className, children }) => {
    const text = typeof children === "string" ? children : ""
    const language = /language-([\w+#-]+)/.exec(className ?? "")?.[1]
    // A block of code ends with a line end, code in a sentence never does.
    return text.endsWith("\n") ? <Code text={text.slice(0, -1)} language={language} /> : <code>{text}</code>
  },
}

/** A link to another site, with its host in words. Anything else than the web is only text. */
function Linked({ to, children }: { to: string | undefined; children: React.ReactNode }) {
  const host = hostOf(to)
  if (to === undefined || host === undefined) return <span>{children}</span>
  return (
    <a href={to} target="_blank" rel="noreferrer noopener">
      {children}
      {children !== host && children !== to && <span className={look["host"]}> ({host})</span>}
    </a>
  )
}

function hostOf(address: string | undefined): string | undefined {
  if (address === undefined || !URL.canParse(address)) return undefined
  const { protocol, host } = new URL(address)
  return protocol === "https:" || protocol === "http:" ? host : undefined
}

/** A block of code, in colours, to copy. */
function Code({ text, language }: { text: string; language: string | undefined }) {
  const lines = useMemo(() => highlightAs(language, text), [language, text])
  return (
    <figure className={look["code"]}>
      <figcaption>
        <span className="grow">{language}</span>
        <CopyButton text={text} />
      </figcaption>
      <pre tabIndex={0}>
        <code>
          <HighlightedLines text={text} lines={lines} />
        </code>
      </pre>
    </figure>
  )
}
