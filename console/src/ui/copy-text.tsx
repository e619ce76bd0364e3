import { useState } from "react"
import { useWords } from "../words/words.tsx"
import { Icon } from "./icon.tsx"

/** A command or text to copy. */
export function CopyText({ text }: { text: string }) {
  return (
    <div className="copy">
      <code>{text}</code>
      <CopyButton text={text} />
    </div>
  )
}

export function CopyButton({ text, label, icon = "copy" }: { text: string; label?: string; icon?: "copy" | "link" }) {
  const words = useWords()
  const [copied, setCopied] = useState(false)
  const copy = async () => {
    await navigator.clipboard.writeText(text)
    setCopied(true)
    setTimeout(() => setCopied(false), 1500)
  }
  const name = copied ? words.frame.copied : (label ?? words.frame.copy)
  return (
    <button type="button" className="ib" aria-label={name} title={name} onClick={() => void copy()}>
      <Icon name={copied ? "check" : icon} small={icon === "copy"} />
    </button>
  )
}
