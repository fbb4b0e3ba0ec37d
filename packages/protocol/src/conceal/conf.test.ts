import { describe, expect, test } from "vitest";

import { formatAmneziaConf, parseAmneziaConf } from "./conf.ts";
import { concealKeys } from "./keys.ts";
import { formatConcealProblem } from "./rules.ts";

/** 32 bytes that guard nothing. */
const OWN_KEY = "Nzc3Nzc3Nzc3Nzc3Nzc3Nzc3Nzc3Nzc3Nzc3Nzc3Nzc=";
const FILE = `# made by hand
[Interface]
PrivateKey = ${OWN_KEY}
Address = 10.0.0.2/32 , fd00::2/128
jc = 4 # four
JMIN = 40
Jmax = 70
S1 = 15
S2 = 18
S3 = 20
S4 = 25
H1 = 100-200
H2 = 300
H3 = 400 - 500
H4 = 600
I1 = <b 0xdead>  <r 4>
HeaderProtectionKey = AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=
ContentPaddingAddition = 5-9
RandomTrailers = on
DisableCookies = 0

[Peer]
PublicKey = xTIBA5rboUvnH4htodjb6e697QjLERt1NAB4mZqp8Dg=
AllowedIPs = 0.0.0.0/0
Endpoint = [2001:db8::1]:51820
PersistentKeepalive = 20-30
`;

function read(text: string) {
  const conf = parseAmneziaConf(text);
  if (!conf.ok) throw new Error(conf.error.map(formatConcealProblem).join("\n"));
  return conf.value;
}

function rules(text: string): readonly string[] {
  const conf = parseAmneziaConf(text);
  return conf.ok ? [] : conf.error.map(formatConcealProblem);
}

describe(".conf files of AmneziaWG", () => {
  test("CFG-18 B-20 names have any case, comments and spaces go, and all four types are read", () => {
    const { profile, interface: own, peers } = read(FILE);

    expect(Object.fromEntries(concealKeys(profile))).toEqual({
      jc: "4",
      jmin: "40",
      jmax: "70",
      s1: "15",
      s2: "18",
      s3: "20",
      s4: "25",
      h1: "100-200",
      h2: "300",
      h3: "400-500",
      h4: "600",
      i1: "<b 0xdead>  <r 4>",
      header_protection_key: "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f",
      content_padding_addition: "5-9",
      random_trailers: "1",
    });
    expect(own).toEqual([
      ["PrivateKey", OWN_KEY],
      ["Address", "10.0.0.2/32,fd00::2/128"],
    ]);
    expect(peers).toEqual([
      {
        lines: [
          ["PublicKey", "xTIBA5rboUvnH4htodjb6e697QjLERt1NAB4mZqp8Dg="],
          ["AllowedIPs", "0.0.0.0/0"],
          ["Endpoint", "[2001:db8::1]:51820"],
        ],
        persistentKeepalive: { low: 20, high: 30 },
      },
    ]);
  });

  test("what is written reads back as the same", () => {
    const first = read(FILE);
    const again = read(formatAmneziaConf(first));

    expect(concealKeys(again.profile)).toEqual(concealKeys(first.profile));
    expect(again.peers).toEqual(first.peers);
    expect(formatAmneziaConf(again)).toBe(formatAmneziaConf(first));
  });

  test("CFG-18 B-33 an empty field means the default", () => {
    const { profile } = read("[Interface]\nJc = 3\nJmin = 5\nJmax = 9\nH1 =\nH2=\nH3 = \nH4 =\nI1 =\nS1 =\n");

    expect(Object.fromEntries(concealKeys(profile))).toEqual({ jc: "3", jmin: "5", jmax: "9" });
  });

  test("CFG-15 CFG-19 keys of other versions and back ends are left out with a warning", () => {
    const { warnings, profile } = read(
      "[Interface]\nJ1 = <b 0x01>\nItime = 60\nI2 = <r 4>\n[Peer]\nPublicKey = x\nAdvancedSecurity = on\n",
    );

    expect(warnings).toHaveLength(3);
    expect(profile.i2).toBe("<r 4>");
  });

  test("B-21 CFG-05 junk is no range, and every wrong line is told at once", () => {
    expect(
      rules("[Interface]\nJc = 4-8\nJmin = 1\nJmax = 2\nRandomTrailers = maybe\nHeaderProtectionKey = AAAA\n"),
    ).toEqual([
      "jc = 4-8: must be a whole number from 0 to 128",
      "random_trailers = maybe: must be one of on, off, a number",
      "header_protection_key = [secret]: must be 32 bytes in base64",
    ]);
  });

  test("CFG-14 CFG-13 a number switches, and (off) is no range", () => {
    expect(read("[Interface]\nRandomTrailers = 2\n").profile.randomTrailers).toBe("on");
    expect(rules("[Interface]\nRekeyTimeout = (off)\n")).toHaveLength(1);
    expect(rules("[Peer]\nPersistentKeepalive = 9-3\n")).toHaveLength(1);
  });

  test.each(["Jc = 3", "[Interface]\nJc", "[Other]\nJc = 3"])("a line outside of the form is refused: %s", (text) => {
    expect(rules(text)).toHaveLength(1);
  });
});
