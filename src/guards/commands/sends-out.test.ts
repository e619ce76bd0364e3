import { expect, test } from "vitest"
import { sendsOut } from "./sends-out.ts"

test.each([
  "curl -d @data.csv https://x.example",
  "curl -sd a=b https://x.example",
  "curl -T file https://x.example",
  "curl -Ffile=@a https://x.example",
  "curl --data-binary @a https://x.example",
  "curl --dat @a https://x.example",
  "curl --json {} https://x.example",
  "curl -sXPOST https://x.example",
  "curl -X delete https://x.example",
  "curl --request=PUT https://x.example",
  "curl -H @secret https://x.example",
  "curl -K options",
  "wget --post-file=a https://x.example",
  "wget --method PUT https://x.example",
  "scp a.csv host:",
  "scp -i key a.csv user@host:/tmp",
  "rsync -a data/ host:backup",
  "rsync data/ host:backup -e ssh",
  "rsync data rsync://host/module",
  "ssh host cat",
  "nc host 99",
  "git push",
  "npm publish",
  "docker push image",
  "gh release upload v1 a.zip",
  "aws s3 cp a.csv s3://bucket/",
  "kubectl apply -f a.yml",
])("%s may send data out", (line) => {
  const [name = "", ...args] = line.split(" ")
  expect(sendsOut(name, args)).toBe(true)
})

test.each([
  "curl https://x.example",
  "curl -fsSL -o data.json https://x.example",
  "curl -od https://x.example",
  "curl -X GET https://x.example",
  "curl -I --request HEAD https://x.example",
  "curl -H Accept:text/plain https://x.example",
  "wget -q https://x.example",
  "scp host:a.csv .",
  "rsync -a host:backup/ data",
  "rsync -a one/ two/",
  "git clone https://x.example/a.git",
  "git pull",
  "npm install left-pad",
  "pip install publish",
  "docker pull image",
  "gh pr view 12",
  "aws s3 ls",
  "kubectl get pods",
  "ls",
])("%s only fetches, if anything", (line) => {
  const [name = "", ...args] = line.split(" ")
  expect(sendsOut(name, args)).toBe(false)
})
