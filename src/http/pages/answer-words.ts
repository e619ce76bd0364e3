import type { Card } from "../api/schemas.ts"

const plural = (n: number, word: string) => `${n} ${word}${n === 1 ? "" : "s"}`

const en = {
  lang: "en",
  other: "中文",
  answer: "Answer",
  left: (minutes: number) => `${minutes} min left`,
  asked: (minutes: number) => (minutes < 1 ? "asked just now" : `asked ${minutes} min ago`),
  ago: (minutes: number) => (minutes < 1 ? "just now" : `${minutes} min ago`),
  risk: { low: "Low risk", medium: "Medium risk", high: "High risk" },
  revision: (n: number) => `revision ${n}`,
  editedBy: (name: string) => `edited by ${name}`,
  says: "The agent says",
  notVerified: "not verified",
  found: "Quartermaster found",
  result: "The result that is held",
  network: "with network",
  inFolder: (folder: string) => `in ${folder}`,
  touch: { read: "Reads", write: "Writes", delete: "Deletes", command: "Runs", host: "Reaches" },
  newHost: "never reached before",
  perhapsMore: "Perhaps more: not everything it does could be read from the call.",
  also: "Also",
  why: "Why",
  everyTime: "every time",
  yourAnswer: "Your answer",
  chooseSome: "Choose one or more.",
  pin: "Your PIN",
  pinWhy: "A link alone says nothing about who opens it. Medium risk needs the PIN, high risk the console.",
  yes: { call: "Approve once", result: "Release", question: "Answer" },
  no: { call: "Reject", result: "Withhold", question: "Do not answer" },
  openConsole: "Open the console",
  hint: (n: number) =>
    `Opening this page answers nothing. The link works once, for this call as it is shown, revision ${n}.`,
  hintPin: (no: string) => `“${no}” needs no PIN. Three wrong PINs end the link.`,
  only: {
    high: "What has high risk is approved in the console only. From here you can say no.",
    "no-pin":
      "Medium risk needs a PIN, and you have none. Set one where Quartermaster runs with qm pin set, or answer in the console.",
    "not-counted": "Your yes would not count here: somebody else must answer. From here you can say no.",
    form: "This is answered in the console. From here you can say no.",
    "too-long": "This is too long for this page. Look at it in the console. From here you can say no.",
  },
  wrongPin: (tries: number) => `This PIN is wrong. ${plural(tries, "more try").replace("trys", "tries")}.`,
  lockedPin:
    "Your PIN is locked for 15 minutes after five wrong tries. You can still say no, or answer in the console.",
  noAnswer: "Nothing was answered. Choose or write an answer first.",
  notCounted: (sentence: string) => `It did not count. ${sentence}`,
  done: {
    yes: { call: "Approved", result: "Released", question: "Answered" },
    no: { call: "Rejected", result: "Withheld", question: "Not answered" },
  },
  doneMore: {
    yes: {
      call: "The call goes on, for this once.",
      result: "The agent gets the result.",
      question: "The agent gets your answer.",
    },
    no: {
      call: "The agent is told that you said no.",
      result: "The agent gets nothing of the result.",
      question: "The agent is told that nobody answers.",
    },
  },
  close: "You can close this page.",
  used: "This link was used",
  usedMore: (name: string, did: string, ago: string) => `${name} ${did} ${ago}. A link works once, for 15 minutes.`,
  usedNotYou: "If that was not you, this stops every agent:",
  gone: "It no longer waits",
  goneBy: (name: string, did: string, ago: string) => `${name} ${did} ${ago}, before this link was used.`,
  goneExpired: "Nobody answered in time. The agent was told that it expired, not that it was refused.",
  goneOther: "The call ended before anybody answered it.",
  changed: "It has changed",
  changedMore: (from: number, to: number) =>
    `This link was for revision ${from}, and this is revision ${to} now. Look at it again before you answer.`,
  changedBy: (name: string) => `${name} edited the input.`,
  expired: "This link is too old",
  expiredMore: "A link works for 15 minutes. Nobody has used it.",
  ended: "This link was ended",
  endedMore: "Three wrong PINs were tried with it. Nothing was answered.",
  void: "This link does not count any more",
  voidMore: "The person it was made for is gone, or may not answer calls.",
  unknown: "There is no such link",
  unknownMore: "It was mistyped, or is older than a day.",
  tooMany: "Too many links were tried",
  tooManyMore: "Wait a minute, then open the link again.",
  badForm: "This could not be read",
  badFormMore: "Open the link again and use its buttons.",
  next: "Get a new one where Quartermaster runs:",
  did: {
    approved: "approved it",
    rejected: "rejected it",
    answered: "answered it",
    released: "released it",
    withheld: "withheld it",
    edited: "edited it",
  },
}

export type Words = typeof en
export type Did = keyof Words["did"]
export type Kind = Card["kind"]

const zh: Words = {
  lang: "zh-CN",
  other: "English",
  answer: "答复",
  left: (minutes) => `${minutes} 分钟后过期`,
  asked: (minutes) => (minutes < 1 ? "刚刚提出" : `${minutes} 分钟前提出`),
  ago: (minutes) => (minutes < 1 ? "刚刚" : `${minutes} 分钟前`),
  risk: { low: "低风险", medium: "中风险", high: "高风险" },
  revision: (n) => `第 ${n} 版`,
  editedBy: (name) => `由 ${name} 修改`,
  says: "智能体的说法",
  notVerified: "未经核实",
  found: "Quartermaster 查明",
  result: "待放行的结果",
  network: "使用网络",
  inFolder: (folder) => `在 ${folder}`,
  touch: { read: "读取", write: "写入", delete: "删除", command: "运行", host: "访问" },
  newHost: "从未访问过",
  perhapsMore: "可能不止这些：并非所有行为都能从调用中读出。",
  also: "另外",
  why: "原因",
  everyTime: "每次都问",
  yourAnswer: "您的答复",
  chooseSome: "可选择一项或多项。",
  pin: "您的 PIN",
  pinWhy: "链接本身无法说明是谁打开了它。中风险需要 PIN，高风险须在控制台处理。",
  yes: { call: "批准一次", result: "放行", question: "答复" },
  no: { call: "拒绝", result: "扣留", question: "不答复" },
  openConsole: "打开控制台",
  hint: (n) => `打开此页面不会作出任何答复。链接只能使用一次，仅适用于此处显示的调用（第 ${n} 版）。`,
  hintPin: (no) => `“${no}”不需要 PIN。输错三次 PIN，链接即失效。`,
  only: {
    high: "高风险的调用只能在控制台批准。您可以在这里拒绝。",
    "no-pin": "中风险需要 PIN，而您尚未设置。请在运行 Quartermaster 的机器上用 qm pin set 设置，或在控制台答复。",
    "not-counted": "您的同意在此不生效：须由其他人答复。您可以在这里拒绝。",
    form: "此项须在控制台答复。您可以在这里拒绝。",
    "too-long": "内容过长，无法在此页面显示。请在控制台查看。您可以在这里拒绝。",
  },
  wrongPin: (tries) => `PIN 不正确。还可以再试 ${tries} 次。`,
  lockedPin: "PIN 已输错五次，锁定 15 分钟。您仍可拒绝，或在控制台答复。",
  noAnswer: "尚未作出答复。请先选择或填写。",
  notCounted: (sentence) => `答复未生效。${sentence}`,
  done: {
    yes: { call: "已批准", result: "已放行", question: "已答复" },
    no: { call: "已拒绝", result: "已扣留", question: "未答复" },
  },
  doneMore: {
    yes: { call: "调用继续进行，仅此一次。", result: "智能体会收到结果。", question: "智能体会收到您的答复。" },
    no: { call: "智能体会得知您已拒绝。", result: "智能体不会收到任何结果。", question: "智能体会得知无人答复。" },
  },
  close: "您可以关闭此页面。",
  used: "此链接已使用",
  usedMore: (name, did, ago) => `${name} ${ago}${did}。链接只能使用一次，15 分钟内有效。`,
  usedNotYou: "如果不是您本人，此命令会停止全部智能体：",
  gone: "已无需答复",
  goneBy: (name, did, ago) => `${name} ${ago}${did}，早于此链接的使用。`,
  goneExpired: "逾期无人答复。智能体得知的是已过期，而非被拒绝。",
  goneOther: "调用在有人答复之前已结束。",
  changed: "内容已变更",
  changedMore: (from, to) => `此链接对应第 ${from} 版，现为第 ${to} 版。请重新查看后再答复。`,
  changedBy: (name) => `${name} 修改了输入。`,
  expired: "此链接已过期",
  expiredMore: "链接 15 分钟内有效。没有人使用过它。",
  ended: "此链接已失效",
  endedMore: "PIN 输错了三次。没有作出任何答复。",
  void: "此链接不再有效",
  voidMore: "链接所属的人已不存在，或不能再答复调用。",
  unknown: "没有这个链接",
  unknownMore: "地址有误，或链接已超过一天。",
  tooMany: "尝试的链接过多",
  tooManyMore: "请等待一分钟，再重新打开链接。",
  badForm: "无法读取",
  badFormMore: "请重新打开链接，并使用页面上的按钮。",
  next: "请在运行 Quartermaster 的机器上重新生成：",
  did: {
    approved: "批准了它",
    rejected: "拒绝了它",
    answered: "答复了它",
    released: "放行了它",
    withheld: "扣留了它",
    edited: "修改了它",
  },
}

/** The language that the browser asks for, or that the address names. */
export function wordsFor(acceptLanguage: string | undefined, named: string | null): Words {
  if (named === "zh" || named === "en") return named === "zh" ? zh : en
  const wanted = (acceptLanguage ?? "")
    .split(",")
    .map((part) => {
      const [tag = "", quality] = part.trim().split(/;\s*q=/)
      return { tag: tag.toLowerCase(), quality: Number(quality ?? 1) }
    })
    .sort((one, other) => other.quality - one.quality)
    .find(({ tag }) => /^(zh|en)\b/.test(tag))
  return wanted?.tag.startsWith("zh") === true ? zh : en
}
