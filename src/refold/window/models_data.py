"""How many tokens the known models can read: one row a model, dated and with its source.

Written on 2026-11-15 from two public tables (both MIT) and completed by hand:

- genai-prices 0.2.1 gives the windows; it is not needed at run time. Its import takes 0.15 s and
  brings pydantic and an HTTP client along, and it knows no longest answers.
- LiteLLM 1.108.4 (`model_prices_and_context_window_backup.json`) gives the longest answers and the
  windows that genai-prices lacks. Where both differ by more than a tenth, the smaller one stands.
- Rows "by hand" stand above both. They are the makers' published figures as the author knew them,
  not fetched: of 254, 98 agree with the tables within a tenth, 13 differ, 143 are not in them.

A row is `name window longest-answer longest-prompt`; `-` or nothing means not known. Spelling does
not matter (see `models._key`); a row without a size stands for each size of the family, a row
without a date for each date. `provider/name` is a row for one provider only.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from typing import Final


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """Rows from one source; a later group overrules an earlier one."""

    source: str
    as_of: date
    rows: str


GROUPS: Final[tuple[Group, ...]] = (
    Group(
        source="LiteLLM 1.108.4",
        as_of=date(2026, 11, 15),
        rows="""\
chat-latest 400000 128000
claude-mythos-5 1000000 128000
claude-mythos-preview 1000000 128000
command-a-plus-05-2026 128000 64000
daybreak-blue-latest 922000 128000
daybreak-red-latest 400000 128000
deep-research-max-preview-04-2026 1048576 65536
deep-research-preview-04-2026 1048576 65536
deep-research-pro-preview-12-2025 1048576 65536
deepseek-v3 65536 8192
devstral-latest 256000
devstral-medium-latest 256000
devstral-small-latest 256000
gemini-3.1-pro-preview-customtools 1048576 65536
gemini-3.8-flash-cyber 1048576 65536
gemini-exp-1114 1048576 8192
gemini-exp-1206 2097152 8192
gemini-flash-lite-latest 1048576 65536
gemini-omni-1.1-flash 1048576 65536
gemini-omni-flash-preview 131072 65536
glm-4-32b-0414-128k 128000 32000
glm-4.5-airx 128000 32000
glm-4.5-flash 128000 32000
glm-4.5-x 128000 32000
glm-4.6 200000 128000
glm-4.7-flash 200000 128000
glm-5-code 200000 128000
gpt-4o-mini-search-preview 128000 16384
gpt-5-search-api 272000 128000
gpt-5.6 922000 128000
gpt-5.6-cyber 400000 128000
gpt-daybreak-blue-latest 922000 128000
gpt-daybreak-red-latest 400000 128000
grok-4.20-multi-agent-beta-0309 1000000
grok-4.20-multi-agent-beta-latest 1000000
grok-4.20-multi-agent-experimental-beta-0304 1000000
grok-4.20-multi-agent-experimental-beta-latest 1000000
grok-4.20-multi-agent-latest 1000000
grok-4.20-non-reasoning-gv2 1000000
grok-4.20-reasoning-gv2 1000000
grok-build-latest 500000
jamba-1.5 256000
jamba-large-1.6 256000
jamba-large-1.7 256000
jamba-mini-1.6 256000
jamba-mini-1.7 256000
labs-leanstral-1-5 262144 131072
learnlm-1.5-pro-experimental 32767 8192
magistral-medium-latest 262144
magistral-small-latest 262144
medlm-large 8192 1024
medlm-medium 32768 8192
minimax-m2.1-lightning 1000000 8192
minimax-m2.5-lightning 1000000 8192
ministral-14b-latest 262144
ministral-3-14b-2512 262144
ministral-3-3b-2512 131072
ministral-3-8b-2512 262144
mistral-code-agent-latest 256000
mistral-code-fim-latest 128000
mistral-code-latest 128000
mistral-medium 262144
mistral-vibe-cli-fast 262144
mistral-vibe-cli-latest 262144
mistral-vibe-cli-with-tools 262144
moonshot-v1-128k-vision-preview 131072
moonshot-v1-32k-vision-preview 32768
moonshot-v1-8k-vision-preview 8192
moonshot-v1-auto 131072
qwen-coder 1000000 16384
qwen-flash 997952 32768
qwen3-coder-flash-2025-07-28 997952 65536
qwen3-coder-plus-2025-07-22 997952 65536
qwen3-max-2026-01-23 258048 65536
qwen3-max-preview 258048 65536
qwen3-next-80b-a3b-instruct 262144 65536
qwen3-next-80b-a3b-thinking 262144 65536
qwen3-vl-235b-a22b-instruct 131072 32768
qwen3-vl-32b-thinking 131072 32768
qwen3-vl-plus 260096 32768
qwen3.5-plus 991808 65536
qwen3.8-max 991808 131072
qwq-plus 98304 8192
sonar-medium-chat 16384
sonar-medium-online 12000
sonar-small-chat 16384
sonar-small-online 12000""",
    ),
    Group(
        source="genai-prices 0.2.1",
        as_of=date(2026, 11, 15),
        rows="""\
aion-2.0 131072
aion-3.0 131072
aion-3.0-mini 131072
aion-3.5 262144
aion-3.5-mini 262144
aion-rp-llama-3.1-8b 32768
beam-1.0-501b-a23b 1048576
c4ai-aya-expanse-32b 128000 4000
c4ai-aya-expanse-8b 8192
claude-fable-5 1000000 128000
claude-fable-latest 1000000
claude-haiku-5-5 1000000 128000
claude-haiku-latest 1000000
claude-opus-4.7-fast 1000000
claude-opus-4.8-fast 1000000
claude-opus-5 1000000 128000
claude-opus-5-fast 1000000
claude-opus-latest 1000000
claude-sonnet-5 1000000 128000
claude-sonnet-latest 1000000
clef 65536
clef-flash 65536
command-a-plus 192000
command-light 4096
cydonia-24b-v4.1 131072
deepseek-flash 1000000 393216
deepseek-flash-latest 1048576
deepseek-pro-latest 1048576
deepseek-r1 65536 8192
deepseek-r1-distill-llama-70b 8192
deepseek-v3.1-terminus 128000
deepseek-v4-flash 1000000 393216
deepseek-v4-flash-0731 1048576 393216
deepseek-v4-flash-latest 1048576
deepseek-v4-flash-vision-exp 1048576 393216
deepseek-v4-pro 1000000 393216
deepseek-v4-pro-0813 1048576
deepseek-v4.1-flash 1048576
devstral-2-123b 256000
devstral-2512 262144
dolphin-mistral-24b-venice-edition 128000
dots-3-note-preview 512000
ember-1 1048576
ernie-4.5-vl-424b-a47b 123000
extract 1000000
fugu-max 1000000
fugu-ultra 1000000
gemini-3.1-flash-lite 1048576 65536
gemini-3.1-pro-preview 1048576 65536
gemini-3.5-flash 1048576 65536
gemini-3.5-flash-lite 1048576 65536
gemini-3.6-flash 1048576 65536
gemini-3.7-flash 1048576 65536
gemini-3.8-flash 1048576 65536
gemini-4-argon 1048576
gemini-flash-latest 1048576 65536
gemini-nano-banana-2.1 65536
gemma-4-26b-a4b-it 262144 32768
gemma-4-31b-it 262144 32768
glimpse 262144
glm-4-airx 8000
glm-4-assistant 128000
glm-4-flashx-250414 128000
glm-4-long 1000000
glm-4.5 131072 32000
glm-4.5-air 128000 32000
glm-4.5v 65536 32000
glm-4.6v 128000
glm-4.7 200000 128000
glm-4.7-flashx 200000
glm-5 200000 128000
glm-5-turbo 200000
glm-5.1 202745 131072
glm-5.2 1048576 131072
glm-5.3 1000000 128000
glm-5.3-flash 1048576 128000
glm-5.3-flashx 1048576
glm-5.3-prime 1000000
glm-5v-turbo 202752
glm-flash-latest 1048576
glm-latest 1048576
gpt-4o-search-preview 128000 16384
gpt-5.3 128000
gpt-5.6-luna 1000000 128000 922000
gpt-5.6-luna-pro 1050000
gpt-5.6-sol 1000000 128000 922000
gpt-5.6-sol-pro 1050000
gpt-5.6-terra 1000000 128000 922000
gpt-5.6-terra-pro 1050000
gpt-6-astra 1050000 128000 922000
gpt-6-astra-pro 1050000
gpt-6-luna 1000000 128000 922000
gpt-6-sol 1000000 128000 922000
gpt-6.1-sol 1000000 128000 922000
gpt-6.1-terra 1050000
gpt-astra-latest 1050000
gpt-latest 1050000
gpt-luna-latest 1050000
gpt-mini-latest 400000
gpt-oss-safeguard-20b 131072
gpt-sol-latest 1050000
gpt-terra-latest 1050000
granite-4.0-h-micro 131000
granite-4.1-8b 131072
granite-4.2-8b 131072
grok-4.20 1000000
grok-4.20-multi-agent 2000000 1000000 1000000
grok-4.20-multi-agent-0309 1000000
grok-4.3 1000000
grok-4.5 500000
grok-4.6 500000
grok-4.7 500000
grok-build-0.1 256000
grok-latest 500000
hermes-3-llama-3.1-405b 131072
hermes-3-llama-3.1-70b 131072
hermes-4-405b 131072
hermes-4-70b 131072
hunyuan-a13b-instruct 131072
hy-mt2-1.8b 8192
hy-mt2-30b-a3b 8192
hy-mt2-7b 8192
hy3-preview 262144
inkling 524288
inkling-small 524288
jev-1.13 32000
kimi-k2 131072
kimi-k2-0905 262144
kimi-k2-thinking 262144
kimi-k2-thinking-turbo 262144
kimi-k2-turbo-preview 262144
kimi-k2.5 262144
kimi-k2.6 262144
kimi-k2.7-code 262144
kimi-k2.7-code-highspeed 262144
kimi-k3 1048576
kimi-k3.1-pro 1048576
kimi-k3.1-pro-highspeed 1048576
l3-lunaris-8b 8192
l3.3-euryale-70b 131072
laguna-s-2.1 1048576
laguna-xs-2.1 262144
lfm-2.5-2.6b 65536
lfm-2.5-24b-a2b 128000
ling-3.0-flash 262144
ling-3.0-flash-vl 131072
ling-3.1-flash 262144
llama-guard-4-12b 163840
llama4-scout-17b-instruct 10000000
longcat-2.0 1048756
m2-her 64000
magistral-small-2509 128000
magnum-v4-72b 32768
mercury-2 128000
mercury-2.5 260000
mercury-3 1000000
mimo-v2.6-flash 1050000
mimo-v2.6-pro 1050000
mimo-v2.6-pro-ultraspeed 1048576
minimax-01 1000192
minimax-m1 1000000
minimax-m2-her 65536
minimax-m2.1-highspeed 204800
minimax-m2.5-highspeed 204800
minimax-m2.7 204800
minimax-m2.7-highspeed 204800
minimax-m3.1-flash 1000000
ministral-14b-2512 262144
ministral-3-14b-instruct 128000
ministral-3-3b-instruct 128000
ministral-3-8b-instruct 128000
mistral-large-3-675b-instruct 256000
mistral-medium-3.1 131072
mistral-saba 32768
mistral-small-24b-instruct-2501 32768
mistral-small-3.1-24b-instruct 128000
moondream3-preview 32000
moondream3.1-9b-a2b 32000
morph-v3-fast 81920
morph-v3-large 262144
muse-glimmer-30b 131072
muse-spark-1.1 1048576
muse-spark-1.2 1048576
muse-spark-1.2-contributor 1048576
muse-spark-1.3 1048576
muse-spark-1.3-contributor 1048576
muse-spark-open 1048576
muse-wonder 1048576
muse-wonder-1.0 1048576
nemotron-3-nano-30b-a3b 262144
nemotron-3-nano-omni-30b-a3b-reasoning 256000
nemotron-3-super-120b-a12b 262144
nemotron-3-ultra-550b-a55b 1000000
nemotron-3.5-content-safety 131072
nemotron-3.5-lightning 262144
nemotron-3.5-super-vl 1048576
nemotron-nano-3-30b 256000
nemotron-nano-9b 128000
nemotron-super-3-120b 256000
nex-n2.5-mini 262144
nex-n2.5-pro 262144
north-mini-code 256000
nova-2-lite 1000000
nova-lite 300000
nova-micro 128000
nova-premier 1000000
nova-pro 300000
o3-deep-research 200000 100000
o4-mini-deep-research 200000 100000
olmo-3-32b-think 65536
pareto-26.10 1048576
pareto-26.9 262144
pareto-latest 1048576
perceptron-mk1 32768
perceptron-mk1.5 36864
pplx-decider-v1-27b 262144
pplx-decider-v1.1-27b 262144
qwen3-30b-a3b-thinking-2507 81920
qwen3-32b 32000
qwen3-coder-480b-a35b 128000
qwen3-coder-flash 1000000 65536
qwen3-coder-plus 1000000 65536
qwen3-max 262144 65536
qwen3-vl-235b-a22b 256000
qwen3-vl-235b-a22b-thinking 131072 32768
qwen3-vl-32b-instruct 131072 32768
qwen3-vl-8b-thinking 131072
qwen3.5-122b-a10b 262144
qwen3.5-27b 262144
qwen3.5-flash-02-23 1000000
qwen3.5-plus-02-15 1000000
qwen3.5-plus-20260420 1000000
qwen3.6-flash 1000000
qwen3.6-max-preview 262144
qwen3.6-plus 1000000
qwen3.7-flash 1000000
qwen3.7-max 1000000 65536
qwen3.7-plus 1000000 65536
qwen3.8-2.4t-a95b 1048576
qwen3.8-flash 1000000 131072
qwen3.8-max-0902 1000000
qwen3.8-max-prime 1000000
qwen3.8-omni-flash 1000000 131072
r1 128000
reka-edge 16384
reka-flash-3 65536
relace-apply-3 256000
relace-search 256000
remm-slerp-l2-13b 6144
sakana-namazu 262144
schematron-v2-small 128000
schematron-v2-turbo 128000
seed-1.6 262144
seed-1.6-flash 262144
seed-2-1-turbo 262144
seed-2.0-code 262144
seed-2.0-lite 262144
seed-2.0-mini 262144
skyfall-36b-v2 32768
solar-mini4 524288
solar-pro4 524288
sonar 128000
sonar-deep-research 128000
sonar-pro 200000 8000
sonar-pro-search 200000
sonar-reasoning-pro 128000
step-3.5-flash 262144
step-5-preview 1048576
summarize 1000000
ternary-bonsai-2-27b 262144
trinity-large-thinking 262144
ui-tars-1.5-7b 128000
virtuoso-large 131072
weaver 8000
xing4.0-29b-a4b 262144""",
    ),
    Group(
        source="LiteLLM 1.108.4, median of the hosts",
        as_of=date(2026, 11, 15),
        rows="""\
gpt-chat-latest 272000
llama-4-maverick 1000000
llama-4-maverick-17b-128e 1000000
llama-4-scout 1048576
llama-4-scout-17b-16e 1048576
minimax-m3 524288 128000
qwen3-coder-30b-a3b 160000
qwen3.8-27b 262000""",
    ),
    Group(
        source="by hand (OpenAI)",
        as_of=date(2026, 11, 15),
        rows="""\
gpt-3.5-turbo 16385 4096
gpt-3.5-turbo-0301 4096 4096
gpt-3.5-turbo-0613 4096 4096
gpt-3.5-turbo-16k 16385 4096
gpt-3.5-turbo-instruct 4096 4096
gpt-4 8192 8192
gpt-4-32k 32768
gpt-4-turbo 128000 4096
gpt-4-vision 128000 4096
gpt-4-1106-preview 128000 4096
gpt-4-1106-vision-preview 128000 4096
gpt-4-0125-preview 128000 4096
gpt-4.1 1047576 32768
gpt-4.1-mini 1047576 32768
gpt-4.1-nano 1047576 32768
gpt-4.5 128000 16384
gpt-4o 128000 16384
gpt-4o-2024-05-13 128000 4096
gpt-4o-mini 128000 16384
chatgpt-4o-latest 128000 16384
gpt-5 400000 128000 272000
gpt-5-mini 400000 128000 272000
gpt-5-nano 400000 128000 272000
gpt-5-pro 400000 272000
gpt-5-codex 400000 128000 272000
gpt-5-chat 128000 16384
gpt-5.1 400000 128000 272000
gpt-5.1-chat 128000 16384
gpt-5.1-codex 400000 128000 272000
gpt-5.1-codex-max 400000 128000 272000
gpt-5.1-codex-mini 400000 128000 272000
gpt-5.2 400000 128000 272000
gpt-5.2-chat 128000 16384
gpt-5.2-codex 400000 128000 272000
gpt-5.2-pro 400000 128000 272000
gpt-5.3-chat 128000 16384
gpt-5.3-codex 400000 128000 272000
gpt-5.4-mini 400000 128000 272000
gpt-5.4-nano 400000 128000 272000
o1 200000 100000
o1-mini 128000 65536
o1-preview 128000 32768
o1-pro 200000 100000
o3 200000 100000
o3-mini 200000 100000
o3-pro 200000 100000
o4-mini 200000 100000
codex-mini 200000 100000
gpt-4o-audio 128000 16384
gpt-4o-mini-audio 128000 16384
gpt-audio 128000 16384
gpt-audio-mini 128000 16384
computer-use 8192 1024
gpt-oss 131072
gpt-oss-20b 131072
gpt-oss-120b 131072""",
    ),
    Group(
        source="LiteLLM 1.108.4; longest prompt inferred from gpt-5.6, which has the same window",
        as_of=date(2026, 11, 15),
        rows="""\
gpt-5.4 1050000 128000 922000
gpt-5.4-pro 1050000 128000 922000
gpt-5.5 1050000 128000 922000
gpt-5.5-pro 1050000 128000 922000""",
    ),
    Group(
        source="by hand (Anthropic)",
        as_of=date(2026, 11, 15),
        rows="""\
claude-instant-1 100000
claude-instant-1.2 100000
claude-2 100000 4096
claude-2.0 100000 4096
claude-2.1 200000 4096
claude-3-opus 200000 4096
claude-3-sonnet 200000 4096
claude-3-haiku 200000 4096
claude-3-5-sonnet 200000 8192
claude-3-5-haiku 200000 8192
claude-3-7-sonnet 200000 64000
claude-3-7-sonnet-thinking 200000 64000
claude-sonnet-4 200000 64000
claude-sonnet-4-0 200000 64000
claude-4-sonnet 200000 64000
claude-opus-4 200000 32000
claude-opus-4-0 200000 32000
claude-4-opus 200000 32000
claude-opus-4-1 200000 32000
claude-4-1-opus 200000 32000
claude-sonnet-4-5 200000 64000
claude-4-5-sonnet 200000 64000
claude-haiku-4-5 200000 64000
claude-4-5-haiku 200000 64000
claude-opus-4-5 200000 64000
claude-4-5-opus 200000 64000""",
    ),
    Group(
        source="by hand (Google)",
        as_of=date(2026, 11, 15),
        rows="""\
gemini-pro 32768
gemini-1.0-pro 32768
gemini-1.0-pro-vision 16384
gemini-1.5-pro 2097152 8192
gemini-pro-1.5 2097152 8192
gemini-1.5-flash 1048576 8192
gemini-flash-1.5 1048576 8192
gemini-1.5-flash-8b 1048576 8192
gemini-flash-1.5-8b 1048576 8192
gemini-2.0-flash 1048576 8192
gemini-2.0-flash-lite 1048576 8192
gemini-2.0-flash-thinking 1048576 65536
gemini-2.0-pro 2097152 8192
gemini-2.5-pro 1048576 65535
gemini-2.5-flash 1048576 65535
gemini-2.5-flash-lite 1048576 65535
gemini-3-pro 1048576 65535
gemini-3-flash 1048576 65535
gemma 8192
gemma-7b 8192
gemma2 8192
gemma3 131072
gemma3-1b 32768
codegemma 8192""",
    ),
    Group(
        source="by hand (Mistral); mistral-large, mistral-small: LiteLLM of 2026-08-08",
        as_of=date(2026, 8, 8),
        rows="""\
mistral 32768
mistral-7b 8192
mistral-7b-instruct-v0.1 8192
mistral-7b-instruct-v0.2 32768
mistral-7b-instruct-v0.3 32768
open-mistral-7b 32768
mixtral 32768
mixtral-8x7b 32768
mixtral-8x7b-32768 32768
mixtral-8x7b-instruct-v0.1 32768
mixtral-8x22b 65536
open-mixtral-8x7b 32768
open-mixtral-8x22b 65536
mistral-nemo 128000
open-mistral-nemo 128000
mistral-tiny 32000
mistral-small 131072
mistral-small-2312 32768
mistral-small-2402 32768
mistral-small-2409 32768
mistral-small-2501 32768
mistral-small-2603 262144
mistral-medium-2312 32768
mistral-medium-3 131072
mistral-large 262144
mistral-large-2402 32768
mistral-large-2407 128000
mistral-large-2411 128000
mistral-large-instruct-2407 128000
mistral-large-instruct-2411 128000
pixtral-large 128000
pixtral-12b 128000
ministral-3b 128000
ministral-8b 128000
codestral 128000
codestral-22b 32768
codestral-2405 32768
codestral-mamba 256000""",
    ),
    Group(
        source="by hand (DeepSeek, xAI); deepseek-chat, -reasoner: LiteLLM of 2026-08-08",
        as_of=date(2026, 8, 8),
        rows="""\
deepseek-chat 131072 8192
deepseek-reasoner 131072 65536
deepseek-coder 16384
deepseek-coder-v2 128000
deepseek-v2 128000
deepseek-v2.5 128000
deepseek-r1-distill-llama 128000
deepseek-r1-distill-qwen 128000
deepseek-v3.1 128000
deepseek-v3.2 128000
grok-beta 131072
grok-2 131072
grok-2-1212 131072
grok-2-vision 32768
grok-3 131072
grok-3-mini 131072
grok-3-fast 131072
grok-3-mini-fast 131072
grok-4 256000
grok-4-fast 2000000
grok-4-1-fast 2000000
grok-code-fast 256000""",
    ),
    Group(
        source="by hand (Meta)",
        as_of=date(2026, 11, 15),
        rows="""\
llama2 4096
llama-2-7b 4096
llama-2-13b 4096
llama-2-70b 4096
codellama 16384
llama3 8192
llama-3-8b 8192
llama-3-70b 8192
llama3-8b-8192 8192
llama3-70b-8192 8192
llama3.1 128000
llama-3.1-8b 128000
llama-3.1-8b-instant 128000
llama-3.1-70b 128000
llama-3.1-70b-versatile 128000
llama-3.1-405b 128000
llama3.2 128000
llama-3.2-1b 128000
llama-3.2-3b 128000
llama-3.2-11b 128000
llama-3.2-90b 128000
llama-3.2-vision 128000
llama-3.2-11b-vision 128000
llama-3.2-90b-vision 128000
llama3.3 128000
llama-3.3-70b 128000
llama-3.3-70b-versatile 128000
llama-3.1-nemotron-70b 128000
llama-3.1-nemotron-ultra-253b 128000
llama-3.1-nemotron-ultra-253b-v1 128000
hermes3 128000
hermes3-405b 128000""",
    ),
    Group(
        source="by hand (Alibaba); qwen-turbo: LiteLLM of 2026-08-08",
        as_of=date(2026, 8, 8),
        rows="""\
qwen 32768
qwen2 32768
qwen2.5 32768
qwen2.5-72b 131072
qwen2.5-coder 32768
qwen3 40960
qwen3-coder 262144
qwq 32768
qwq-32b 32768
qwen-max 32768 8192 30720
qwen-plus 131072 16384 129024
qwen-turbo 129024 16384
qwen-long 10000000""",
    ),
    Group(
        source="by hand (other makers)",
        as_of=date(2026, 11, 15),
        rows="""\
command-r 128000 4096
command-r-plus 128000 4096
command-r7b 128000 4096
command-r-08-2024 128000 4096
command-r-plus-08-2024 128000 4096
command-r7b-12-2024 128000 4096
command-a 256000 8000
jamba-instruct 256000
jamba-1.5-large 256000
jamba-1.5-mini 256000
palmyra-x4 128000 8192
palmyra-x5 128000 8192
minimax-m2 196608
minimax-m2.1 196608
minimax-m2.5 196608
moonshot-v1-8k 8192
moonshot-v1-32k 32768
moonshot-v1-128k 131072
kimi-latest 131072
glm-4 128000
glm-4-plus 128000
glm-4-air 128000
glm-4-flash 128000
phi3 128000
phi-3-mini-4k 4096
phi-3-medium-4k 4096
phi-3-small-8k 8192
phi-3-mini-128k 128000
phi-3-medium-128k 128000
phi3.5 128000
phi4 16384
phi4-mini 128000
granite3 128000
granite3.1-dense 128000
granite3.2 128000
granite3.3 128000
starcoder2 16384
smollm2 8192
tinyllama 2048
vicuna 2048
wizardlm-2-8x22b 65536
zephyr 32768
dolphin-mixtral 32768""",
    ),
    Group(
        source="Upstage documentation, console.upstage.ai/docs/models/solar-pro-2",
        as_of=date(2026, 10, 30),
        rows="""\
solar-pro2 65536""",
    ),
    Group(
        source="the earlier table; no better source found",
        as_of=date(2026, 8, 8),
        rows="""\
solar-pro 4096
solar-mini 4096
sambanova/meta-llama-3.1-8b-instruct 16384
glm-z1-flash 16384
yi-medium 16384
yi-spark 16384
yi-large-turbo 16384
yi-large 32768""",
    ),
    Group(
        source="the earlier table: placeholders of local servers, small on purpose",
        as_of=date(2026, 8, 8),
        rows="""\
default 4096
__default__ 4096
local-model 4096""",
    ),
    Group(
        source="LiteLLM 1.108.4 and genai-prices 0.2.1, for one provider only",
        as_of=date(2026, 11, 15),
        rows="""\
cerebras/llama3.1-8b 32768
cerebras/qwen-3.8-27b 65536
chatgpt/gpt-5.1-codex-max 128000
chatgpt/gpt-5.1-codex-mini 128000
chatgpt/gpt-5.2 128000
chatgpt/gpt-5.2-codex 128000
chatgpt/gpt-5.3-codex 128000
github_copilot/claude-fable-5 200000
github_copilot/claude-fable-5.1 200000
github_copilot/claude-haiku-4.5 128000
github_copilot/claude-haiku-5.5 128000
github_copilot/claude-opus-4.8 200000
github_copilot/claude-opus-4.8-fast 200000
github_copilot/claude-opus-5 200000
github_copilot/claude-opus-5.5 200000
github_copilot/claude-sonnet-4.6 200000
github_copilot/claude-sonnet-5 200000
github_copilot/claude-sonnet-5.5 200000
github_copilot/gemini-3.7-flash 200000
github_copilot/gemini-3.8-flash 200000
github_copilot/gemini-4-argon 200000
github_copilot/gpt-4-o-preview 64000
github_copilot/gpt-4.1 128000
github_copilot/gpt-4.1-2025-04-14 128000
github_copilot/gpt-4o 64000
github_copilot/gpt-4o-2024-05-13 64000
github_copilot/gpt-4o-2024-08-06 64000
github_copilot/gpt-4o-2024-11-20 64000
github_copilot/gpt-4o-mini 64000
github_copilot/gpt-4o-mini-2024-07-18 64000
github_copilot/gpt-5-mini 128000
github_copilot/gpt-5.3-codex 128000
github_copilot/gpt-5.4 272000
github_copilot/gpt-5.5 272000
github_copilot/gpt-5.6-luna 200000
github_copilot/gpt-5.6-sol 272000
github_copilot/gpt-5.6-terra 272000
github_copilot/gpt-6-astra 272000
github_copilot/gpt-6-luna 272000
github_copilot/gpt-6-sol 272000
github_copilot/gpt-6.1-sol 272000
github_copilot/kimi-k3 917504
groq/qwen/qwen3.8-27b 131072
hyperbolic/deepseek-ai/deepseek-r1 32768
hyperbolic/deepseek-ai/deepseek-v3 32768
hyperbolic/deepseek-ai/deepseek-v3-0324 32768
hyperbolic/meta-llama/llama-3.2-3b-instruct 32768
hyperbolic/meta-llama/meta-llama-3.1-405b-instruct 32768
hyperbolic/meta-llama/meta-llama-3.1-70b-instruct 32768
hyperbolic/meta-llama/meta-llama-3.1-8b-instruct 32768
hyperbolic/nousresearch/hermes-3-llama-3.1-70b 32768
nebius/google/gemma-3-27b-it 110000
nebius/qwen/qwen3-14b 32768
nebius/qwen/qwen3-30b-a3b 32768
nebius/qwen/qwen3-4b 32768
nebius/qwen/qwen3-next-80b-a3b-thinking 128000
novita/deepseek/deepseek-r1-distill-qwen-14b 32768
novita/deepseek/deepseek-r1-distill-qwen-32b 64000
novita/google/gemma-3-27b-it 98304
novita/meta-llama/llama-3.1-8b-instruct 16384
novita/meta-llama/llama-3.2-3b-instruct 32768
novita/meta-llama/llama-3.3-70b-instruct 12288
novita/meta-llama/llama-4-scout-17b-16e-instruct 131072
novita/mistralai/mistral-nemo 60288
novita/qwen/qwen-2.5-72b-instruct 32000
novita/qwen/qwen3-235b-a22b-fp8 40960
novita/qwen/qwen3-30b-a3b-fp8 40960
novita/qwen/qwen3-next-80b-a3b-instruct 131072
novita/qwen/qwen3-next-80b-a3b-thinking 131072
novita/thudm/glm-4-32b-0414 32000
sambanova/deepseek-r1 32768
sambanova/deepseek-v3.2 32768
sambanova/gemma-4-31b-it 131072
sambanova/llama-4-maverick-17b-128e-instruct 131072""",
    ),
)
