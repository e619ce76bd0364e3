import { Modal } from "@mantine/core"
import { useState } from "react"
import { useCommandKeys } from "../answer/use-guard.ts"
import { useWords } from "../words/words.tsx"

export const isMac = /mac|iphone|ipad/i.test(navigator.userAgent)
/** ⌘ on a Mac, Ctrl elsewhere. */
export const commandKey = isMac ? "⌘" : "Ctrl "

export function KeysHelp() {
  const words = useWords()
  const [open, setOpen] = useState(false)
  useCommandKeys((key) => {
    if (key !== "?") return false
    setOpen(true)
    return true
  })
  const { keys } = words
  const rows: readonly (readonly [readonly string[], string])[] = [
    [["J", "K"], keys.nextPrevious],
    [["A"], keys.approve],
    [["E"], keys.edit],
    [["R"], keys.reject],
    [["N"], keys.note],
    [["W"], keys.widen],
    [["⌫"], keys.redact],
    [[`${commandKey}↵`], keys.call],
    [[`${commandKey}E`], keys.explain],
    [[`${commandKey}K`], keys.goTo],
    [["F"], keys.freezeShown],
    [["⇧F"], keys.freezeAll],
    [["?"], keys.allKeys],
    [["Esc"], keys.close],
  ]
  return (
    <Modal
      opened={open}
      onClose={() => setOpen(false)}
      title={words.frame.keys}
      closeButtonProps={{ "aria-label": words.frame.close }}
      centered
    >
      <dl className="keys">
        {rows.map(([names, what]) => (
          <div key={what}>
            <dt>
              {names.map((name) => (
                <kbd key={name}>{name}</kbd>
              ))}
            </dt>
            <dd>{what}</dd>
          </div>
        ))}
      </dl>
      <p className="hint">{words.frame.keysNote}</p>
    </Modal>
  )
}
