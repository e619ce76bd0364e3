import { useId, type ReactNode } from "react"

export interface ChipOption {
  readonly value: string
  readonly label: ReactNode
}

interface Props {
  readonly label: string
  readonly options: readonly ChipOption[]
  readonly chosen: readonly string[]
  readonly choose: (value: string) => void
  readonly multiple?: boolean
  readonly labelledBy?: string
}

/** A choice in a line: radio buttons, or check boxes where several may be chosen. */
export function Chips({ label, options, chosen, choose, multiple = false, labelledBy }: Props) {
  const name = useId()
  return (
    <div
      className="chips"
      role={multiple ? "group" : "radiogroup"}
      {...(labelledBy === undefined ? { "aria-label": label } : { "aria-labelledby": labelledBy })}
    >
      {options.map((option) => {
        const checked = chosen.includes(option.value)
        return (
          <label key={option.value} className={multiple ? "chip chip-box" : "chip"} data-checked={checked || undefined}>
            <input
              className="vh"
              type={multiple ? "checkbox" : "radio"}
              name={name}
              checked={checked}
              onChange={() => choose(option.value)}
            />
            {option.label}
          </label>
        )
      })}
    </div>
  )
}
