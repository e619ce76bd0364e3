import { useMediaQuery } from "@mantine/hooks"
import { useEffect, useRef, useState, type ClipboardEvent, type DragEvent } from "react"
import type { ChainViewJson } from "../../../src/interfaces/http/routes/chain-schemas.ts"
import { printable } from "../../../src/lib/printable.ts"
import { problemOf } from "../api/http.ts"
import { useConnection } from "../api/live.ts"
import { CopyText } from "../ui/copy-text.tsx"
import { Icon } from "../ui/icon.tsx"
import { Marked } from "../ui/marked.tsx"
import { useProblemText } from "../words/problem-text.ts"
import { bytesText } from "../words/time-text.ts"
import { useWords } from "../words/words.tsx"
import { isRunning } from "./chat-head.tsx"
import { draftOf, keepDraft } from "./drafts.ts"
import { attach, say, takeBack, type Picture } from "./queries.ts"
import look from "./composer.module.css"

interface Props {
  readonly view: ChainViewJson
  /** The model of the next message: its name, and whether it sees pictures. */
  readonly model: { readonly name: string; readonly seesImages: boolean } | undefined
  readonly again: () => void
}

type Said =
  | { readonly state: "busy" | "done"; readonly text: string }
  | { readonly state: "problem"; readonly error: unknown }
  | { readonly state: "exists"; readonly file: File }

const largestFile = 10_000_000
const largestPicture = 3_700_000
const pictureTypes: readonly string[] = ["image/png", "image/jpeg", "image/gif", "image/webp"]

/** Shows the field for a person's next message. It steers while the agent works, and never answers a card. */
export function Composer({ view, model, again }: Props) {
  const words = useWords()
  const problem = useProblemText()
  const { id, agentId } = view.conversation
  const [text, setText] = useState(() => draftOf(id))
  const [pictures, setPictures] = useState<readonly (Picture & { name: string })[]>([])
  const [said, setSaid] = useState<Said>()
  const [sending, setSending] = useState(false)
  const field = useRef<HTMLTextAreaElement>(null)
  const chooser = useRef<HTMLInputElement>(null)
  const offline = useConnection().state === "lost"
  const wide = useMediaQuery("(min-width: 48em)", true, { getInitialValueInEffect: false })
  const steers = isRunning(view)
  useEffect(() => grow(field.current), [text])

  const typed = useRef(text)
  const write = (next: string) => {
    typed.current = next
    setText(next)
    keepDraft(id, next)
  }
  const send = async () => {
    const message = text.trim()
    if (sending || offline || (message === "" && pictures.length === 0)) return
    setSending(true)
    setSaid(undefined)
    try {
      await say(
        id,
        message === "" ? words.chat.picture : message,
        pictures.map(({ mimeType, data }) => ({ mimeType, data })),
      )
      // Text that was typed meanwhile stays.
      write(typed.current.startsWith(text) ? typed.current.slice(text.length).trimStart() : typed.current)
      setPictures([])
      again()
    } catch (error) {
      setSaid({ state: "problem", error })
    }
    setSending(false)
  }
  const store = async (file: File, overwrite: boolean) => {
    if (file.size > largestFile)
      return setSaid({ state: "done", text: words.chat.tooLarge(printable(file.name), bytesText(largestFile)) })
    setSaid({ state: "busy", text: words.chat.attaching(printable(file.name)) })
    try {
      const { path, waits } = await attach(id, file.name, file, overwrite)
      setSaid({ state: "done", text: waits ? words.chat.attachWaits(path) : words.chat.attached(path) })
    } catch (error) {
      setSaid(problemOf(error).code === "file_exists" ? { state: "exists", file } : { state: "problem", error })
    }
  }
  const take = async (files: readonly File[]) => {
    for (const file of files) {
      const isPicture = pictureTypes.includes(file.type) && file.size <= largestPicture
      if (!isPicture || model?.seesImages !== true) await store(file, false)
      else {
        const data = await base64Of(file)
        setPictures((all) => [...all.slice(-3), { mimeType: file.type as Picture["mimeType"], data, name: file.name }])
      }
    }
  }
  const onPaste = (event: ClipboardEvent) => {
    const files = [...event.clipboardData.files]
    if (files.length === 0) return
    event.preventDefault()
    void take(files)
  }
  const onDrop = (event: DragEvent) => {
    event.preventDefault()
    void take([...event.dataTransfer.files])
  }
  if (!view.may.say) return <MayNotSay view={view} typed={text} />
  return (
    <form
      className={look["steer"]}
      aria-label={words.chat.message}
      onDragOver={(event) => event.preventDefault()}
      onDrop={onDrop}
      onSubmit={(event) => {
        event.preventDefault()
        void send()
      }}
    >
      {view.queued.map((each) => (
        <Queued
          key={each.index}
          id={id}
          {...each}
          back={(old) => write(text === "" ? old : `${old}\n${text}`)}
          again={again}
        />
      ))}
      {pictures.length > 0 && (
        <ul className={look["pictures"]}>
          {pictures.map((picture, at) => (
            <li key={`${at}`} className="tag">
              <Icon name="photo" small />
              {printable(picture.name)}
              <button
                type="button"
                aria-label={words.chat.removePicture}
                onClick={() => setPictures((all) => all.filter((each) => each !== picture))}
              >
                <Icon name="x" small />
              </button>
            </li>
          ))}
        </ul>
      )}
      <div role="status">
        {said?.state === "exists" ? (
          <p className={look["line"]}>
            <span className="grow">
              <Marked text={words.chat.exists(printable(said.file.name))} />
            </span>
            <button type="button" className="btn btn-s" onClick={() => void store(said.file, true)}>
              {words.chat.replace}
            </button>
            <button type="button" className="btn btn-s btn-q" onClick={() => setSaid(undefined)}>
              {words.chat.keep}
            </button>
          </p>
        ) : said?.state === "problem" ? (
          <p className={`${look["line"]} ${look["wrong"]}`}>{problem(said.error)}</p>
        ) : said !== undefined ? (
          <p className={look["line"]}>
            <Marked text={said.text} />
          </p>
        ) : null}
      </div>
      <div className={look["bar"]}>
        <input
          ref={chooser}
          type="file"
          multiple
          hidden
          onChange={(event) => {
            void take([...(event.target.files ?? [])])
            event.target.value = ""
          }}
        />
        <button
          type="button"
          className={`ib ${look["attach"]}`}
          aria-label={words.chat.attach}
          title={words.chat.attach}
          disabled={offline}
          onClick={() => chooser.current?.click()}
        >
          <Icon name="paperclip" />
        </button>
        <textarea
          ref={field}
          className="in"
          rows={1}
          aria-label={steers ? words.chat.steer(agentId) : words.chat.say(agentId)}
          placeholder={
            !steers ? words.chat.say(agentId) : wide ? words.chat.steer(agentId) : words.chat.steerShort(agentId)
          }
          value={text}
          onChange={(event) => write(event.target.value)}
          onPaste={onPaste}
          onKeyDown={(event) => {
            if (event.key !== "Enter" || event.shiftKey || event.nativeEvent.isComposing) return
            event.preventDefault()
            void send()
          }}
        />
        <button
          type="submit"
          className="btn btn-l btn-p"
          disabled={offline || sending || (text.trim() === "" && pictures.length === 0)}
        >
          {words.chat.send}
          <kbd aria-hidden="true">↵</kbd>
        </button>
      </div>
    </form>
  )
}

/** Why nothing can be said here. What was typed is not lost. */
function MayNotSay({ view, typed }: { view: ChainViewJson; typed: string }) {
  const words = useWords()
  const { agentId } = view.conversation
  const why = {
    scope: words.chat.mayNotCall,
    gone: words.chat.agentGone(agentId),
    managers: words.chat.onlyManagers(agentId),
  }[view.may.whyNot ?? "scope"]
  return (
    <div className={look["steer"]} role="status">
      <p className="hint">
        <Marked text={why} /> {typed !== "" && words.chat.typed}
      </p>
      {typed !== "" && <CopyText text={typed} />}
    </div>
  )
}

interface QueuedProps {
  readonly id: string
  readonly index: number
  readonly text: string
  /** Puts the text back where it was typed. */
  readonly back: (text: string) => void
  readonly again: () => void
}

/** A message that the model has not read yet. */
function Queued({ id, index, text, back, again }: QueuedProps) {
  const words = useWords()
  const [late, setLate] = useState(false)
  const take = () =>
    takeBack(id, index).then(
      () => {
        back(text)
        again()
      },
      () => {
        setLate(true)
        again()
      },
    )
  return (
    <div className={look["queued"]} data-queued={index}>
      <Icon name="corner-down-right" small />
      <span className="grow cut">“{printable(text)}”</span>
      <span className={late ? "dim" : "dim wide-only"}>{late ? words.chat.tooLate : words.chat.queued}</span>
      <button
        type="button"
        className="ib ib-s"
        aria-label={words.chat.takeBack}
        title={words.chat.takeBack}
        onClick={() => void take()}
      >
        <Icon name="x" small />
      </button>
    </div>
  )
}

/** Lets a field be as high as its text, up to a third of the window. */
export function grow(field: HTMLTextAreaElement | null): void {
  if (field === null) return
  field.style.height = "auto"
  field.style.height = `${Math.min(field.scrollHeight + 2, window.innerHeight / 3)}px`
}

async function base64Of(file: File): Promise<string> {
  const bytes = new Uint8Array(await file.arrayBuffer())
  let text = ""
  for (let at = 0; at < bytes.length; at += 0x8000) text += String.fromCharCode(...bytes.subarray(at, at + 0x8000))
  return btoa(text)
}
