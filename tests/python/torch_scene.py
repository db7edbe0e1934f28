"""As scene.py, over tensors. Needs torch."""

import torch
from scene import DIM, PAGE_SIZE, PAGES, STEPS, TOKENS

import graphsan


def put_rows(cache, rows, slots):
    live = (slots >= 0).unsqueeze(1)
    flat = cache.view(-1, DIM)
    safe = slots.clamp(min=0)
    flat[safe] = torch.where(live, rows, flat[safe])


class TorchScene:
    """As Scene. Page 0 is a null page, where the write sends pad lanes."""

    def __init__(self, device):
        generator = torch.Generator().manual_seed(5)
        self.cache = torch.zeros((PAGES, PAGE_SIZE, 1, DIM), dtype=torch.bfloat16, device=device)
        self.slots = [[(i + 1) * PAGE_SIZE + step for i in range(TOKENS)] for step in range(STEPS)]
        self.rows = [
            torch.randn((TOKENS, DIM), generator=generator).to(torch.bfloat16) for _ in range(STEPS)
        ]
        self.arguments = {
            "caches": {"key": graphsan.Cache(self.cache, sinks=[(0, PAGE_SIZE)])},
            "slot_mapping": self.slots,
            "inputs": {"rows": self.rows},
        }

    def step(self, ctx, rows, slot_mapping):
        ctx.launch(put_rows, self.cache, rows, slot_mapping)
