"""More awkward inputs for awkward_inputs.py, beside those of its FOLDER's first maker.

    python tests/app/programs/cli/make_awkward_inputs.py FOLDER

Needs ffmpeg, numpy, Pillow and PyAV; fetches nothing. Every file is below 300 kB. Frames of numbered videos are a grid of 3 x 3 black and white
fields: field k, row by row, is bit k of the number. Quarters are red, green, blue and yellow.
"""

import io
import struct
import subprocess
import sys
import zlib
from fractions import Fraction
from pathlib import Path

import av
import numpy as np
from PIL import Image

OUT = Path(sys.argv[1] if len(sys.argv) > 1 else "awkward")
COLOURS = {"R": (220, 40, 40), "G": (40, 180, 60), "B": (50, 80, 230), "Y": (235, 215, 40)}
X264 = ("-c:v", "libx264", "-preset", "veryfast", "-crf", "20", "-pix_fmt", "yuv420p")


def ffmpeg(*arguments: object, data: bytes | None = None) -> None:
    command = ["ffmpeg", "-y", "-hide_banner", "-loglevel", "error", "-threads", "1", *map(str, arguments)]
    done = subprocess.run(command, input=data or b"", capture_output=True, timeout=120)
    if done.returncode:
        raise RuntimeError(" ".join(command) + "\n" + done.stderr.decode()[-600:])


def numbered(number: int, width: int = 192, height: int = 192) -> np.ndarray:
    picture = np.full((height, width, 3), 20, np.uint8)
    for k in range(9):
        if number >> k & 1:
            picture[height * (k // 3) // 3 : height * (k // 3 + 1) // 3, width * (k % 3) // 3 : width * (k % 3 + 1) // 3] = 235
    return picture


def quarters(width: int = 256, height: int = 128) -> np.ndarray:
    picture = np.zeros((height, width, 3), np.uint8)
    picture[: height // 2, : width // 2], picture[: height // 2, width // 2 :] = COLOURS["R"], COLOURS["G"]
    picture[height // 2 :, : width // 2], picture[height // 2 :, width // 2 :] = COLOURS["B"], COLOURS["Y"]
    return picture


def encode(name: str, frames: list[np.ndarray], fps: object, *codec: object) -> Path:
    height, width, _ = frames[0].shape
    ffmpeg("-f", "rawvideo", "-pix_fmt", "rgb24", "-s", f"{width}x{height}", "-r", fps, "-i", "-", *codec, OUT / name, data=b"".join(frame.tobytes() for frame in frames))  # fmt: skip
    return OUT / name


def timed(name: str, frames: list[np.ndarray], times: list[float], last: float, codec: str = "libx264", form: str | None = None) -> None:
    """Pictures at these times, in seconds; the last one is shown for `last` seconds."""
    options = {"preset": "veryfast", "crf": "20", "bf": "0"} if codec == "libx264" else {"deadline": "realtime", "lag-in-frames": "0"}
    with av.open(str(OUT / name), "w", format=form) as container:
        stream = container.add_stream(codec, rate=10)
        stream.height, stream.width, _ = frames[0].shape
        stream.pix_fmt, stream.options = "yuv420p", options
        stream.time_base = stream.codec_context.time_base = Fraction(1, 1000)
        packets = []
        for picture, time in zip(frames, times):
            frame = av.VideoFrame.from_ndarray(picture, format="rgb24")
            frame.pts, frame.time_base = round(time * 1000), Fraction(1, 1000)
            packets += stream.encode(frame)
        packets += stream.encode(None)
        ends = [*times[1:], times[-1] + last]
        for packet, start, end in zip(packets, times, ends):
            packet.duration = round((end - start) * 1000)
            container.mux(packet)


def joined(name: str, *parts: Path) -> None:
    (OUT / name).write_bytes(b"".join(part.read_bytes() for part in parts))


def cut(name: str, whole: Path, share: float) -> None:
    data = whole.read_bytes()
    (OUT / name).write_bytes(data[: int(len(data) * share)])


def make_clocks() -> None:
    first, second = [numbered(i) for i in range(1, 41)], [numbered(i) for i in range(101, 141)]
    plain = encode("plain.mp4", [numbered(i) for i in range(1, 81)], 10, *X264, "-g", 20)
    tone = ("-f", "lavfi", "-i")
    ffmpeg("-i", plain, *tone, "sine=d=12", "-map", "0:v", "-map", "1:a", "-c:v", "copy", "-c:a", "aac", "-b:a", "24k", OUT / "longsound.mp4")
    ffmpeg("-i", plain, *tone, "sine=d=12", "-map", "0:v", "-map", "1:a", "-c:v", "copy", "-c:a", "libopus", "-b:a", "16k", OUT / "longsound.mkv")
    ffmpeg("-i", plain, *tone, "sine=d=3", "-map", "0:v", "-map", "1:a", "-c:v", "copy", "-c:a", "aac", "-b:a", "24k", OUT / "shortsound.mp4")
    ffmpeg("-itsoffset", 2, "-i", plain, "-c", "copy", OUT / "emptyedit.mp4")
    encode("noedits.mp4", [numbered(i) for i in range(1, 81)], 10, *X264, "-bf", 2, "-use_editlist", 0)
    encode("negative.mov", [numbered(i) for i in range(1, 81)], 10, *X264, "-bf", 2, "-movflags", "negative_cts_offsets", "-use_editlist", 0)
    phone = [i / 25 for i in range(25)] + [1 + i * 0.4 for i in range(20)]
    timed("vfr.webm", [numbered(i) for i in range(1, 46)], phone, 3, "libvpx-vp9", "webm")
    timed("vfr.flv", [numbered(i) for i in range(1, 46)], phone, 0.4, form="flv")
    timed("gap.mkv", first[:20], [i / 10 for i in range(10)] + [3600 + i / 10 for i in range(10)], 0.1, form="matroska")
    timed("lastlong.mov", first[:3], [0, 2, 5], 10, form="mov")
    for suffix, codec in (("flv", X264), ("mpg", ("-c:v", "mpeg2video", "-q:v", 3, "-g", 12)), ("ogv", ("-c:v", "libtheora", "-q:v", 8)), ("m2ts", X264)):
        rate = 25 if suffix == "mpg" else 10
        parts = [encode(f"{which}.{suffix}", frames, rate, *codec) for which, frames in (("one", first), ("other", second))]
        joined(f"joined.{suffix}", *parts)
    encode("theora.ogv", [numbered(i) for i in range(1, 81)], 10, "-c:v", "libtheora", "-q:v", 8)
    encode("phone.3gp", [numbered(i, 176, 144) for i in range(1, 41)], 10, "-c:v", "h263", "-q:v", 3)
    encode("old.wmv", [numbered(i) for i in range(1, 41)], 10, "-c:v", "wmv2", "-q:v", 3)
    encode("camera.avi", [numbered(i) for i in range(1, 41)], 10, "-c:v", "mjpeg", "-q:v", 3)
    encode("dvd.vob", [numbered(i) for i in range(1, 51)], 25, "-c:v", "mpeg2video", "-q:v", 3, "-f", "vob")
    encode("whole.mkv", [numbered(i) for i in range(1, 81)], 10, *X264, "-g", 20)
    encode("whole.webm", [numbered(i) for i in range(1, 81)], 10, "-c:v", "libvpx-vp9", "-deadline", "realtime", "-g", 20)
    encode("whole.avi", [numbered(i) for i in range(1, 81)], 10, "-c:v", "mpeg4", "-q:v", 3, "-g", 20)
    encode("whole.flv", [numbered(i) for i in range(1, 81)], 10, *X264, "-g", 20)
    for suffix in ("mkv", "webm", "avi", "flv"):
        cut(f"cut.{suffix}", OUT / f"whole.{suffix}", 0.6)
    cut("cut.ts", encode("whole.ts", [numbered(i) for i in range(1, 81)], 10, *X264, "-g", 20), 0.6)
    cut("cut.ogv", OUT / "theora.ogv", 0.6)
    cut("cut.mpg", OUT / "one.mpg", 0.6)
    data = bytearray(plain.read_bytes())
    at = data.find(b"tkhd")
    data[at + 4 : at + 8] = b"\0\0\0\0"  # a track that is switched off, the only one
    (OUT / "disabled.mp4").write_bytes(data)
    make_recordings(plain)


def make_recordings(plain: Path) -> None:
    """What recorders and broadcasts leave behind."""
    film = ("bframes=8", "b-adapt=0", "keyint=250", "min-keyint=250", "scenecut=0")
    encode("lastgroup.mp4", [numbered(i) for i in range(1, 400)], 25, *X264, "-x264-params", ":".join(film))
    ffmpeg("-i", OUT / "lastgroup.mp4", "-c", "copy", OUT / "lastgroup.mkv")
    encode("refresh.ts", [numbered(i) for i in range(1, 301)], 10, *X264, "-x264-params", "intra-refresh=1:keyint=20:bframes=0")
    ffmpeg("-i", OUT / "refresh.ts", "-c", "copy", OUT / "refresh.mp4")
    ffmpeg("-i", plain, "-c", "copy", "-f", "matroska", "-live", 1, OUT / "nd.mkv")
    cut("crashed.mkv", OUT / "nd.mkv", 0.6)
    whole = (OUT / "whole.ts").read_bytes()
    (OUT / "midpacket.ts").write_bytes(whole[100:188] + whole)
    (OUT / "ts204.ts").write_bytes(b"".join(whole[at : at + 188] + bytes(16) for at in range(0, len(whole), 188)))
    table = plain.read_bytes().replace(b"stss", b"free")  # then every picture passes for a keyframe
    (OUT / "nostss.mp4").write_bytes(table)
    encode("cinema.mp4", [np.full((534, 1280, 3), (245, 140, 30), np.uint8)] * 4, 4, "-vf", "scale=out_color_matrix=bt709:out_range=tv", *X264)


def make_shapes() -> None:
    wide = [quarters(256, 128)] * 20
    tall = [quarters(128, 256)] * 20
    encode("squeezed.mp4", [quarters(128, 128)] * 12, 6, *X264, "-vf", "setsar=2/1")
    ffmpeg("-i", OUT / "squeezed.mp4", "-c", "copy", "-metadata:s:v:0", "rotate=90", OUT / "turnedsar.mp4")
    a, b = encode("wide.ts", wide, 10, *X264, "-g", 10), OUT / "tall.ts"
    encode("tall0.ts", tall, 10, *X264, "-g", 10)
    ffmpeg("-i", OUT / "tall0.ts", "-c", "copy", "-output_ts_offset", 2, b)
    joined("both.ts", a, b)
    for suffix in ("mkv", "mp4"):
        ffmpeg("-i", OUT / "both.ts", "-c", "copy", "-bsf:v", "dump_extra", OUT / f"resized.{suffix}")
    with av.open(str(OUT / "resized.webm"), "w", format="webm") as container:
        stream = container.add_stream("libvpx", rate=10)
        stream.width, stream.height, stream.pix_fmt = 256, 128, "yuv420p"
        stream.time_base = Fraction(1, 1000)
        for part, frames in enumerate((wide, tall)):
            coder = av.CodecContext.create("libvpx", "w")
            coder.height, coder.width, _ = frames[0].shape
            coder.pix_fmt, coder.time_base, coder.bit_rate = "yuv420p", Fraction(1, 10), 400_000
            coder.options = {"deadline": "realtime", "lag-in-frames": "0"}
            for i, picture in enumerate([*frames, None]):
                frame = None if picture is None else av.VideoFrame.from_ndarray(picture, format="rgb24")
                if frame is not None:
                    frame.pts, frame.time_base = i, Fraction(1, 10)
                for packet in coder.encode(frame):
                    packet.pts = packet.dts = packet.pts * 100 + part * 2000
                    packet.time_base, packet.stream = Fraction(1, 1000), stream
                    container.mux(packet)


def png_chunk(kind: bytes, body: bytes) -> bytes:
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))


def png(width: int, height: int, header: bytes, rows: bytes, *chunks: bytes) -> bytes:
    head = png_chunk(b"IHDR", struct.pack(">II", width, height) + header)
    return b"\x89PNG\r\n\x1a\n" + head + b"".join(chunks) + png_chunk(b"IDAT", zlib.compress(rows)) + png_chunk(b"IEND", b"")


def make_pictures() -> None:
    picture = Image.fromarray(quarters())
    save = lambda name, *arguments, **options: picture.save(OUT / name, *arguments, **options)  # noqa: E731
    exif = Image.Exif()
    exif[0x112] = 6
    save("lossy.webp", exif=exif, quality=95)
    red = Image.new("RGB", (256, 128), COLOURS["R"])
    save("moves.webp", save_all=True, append_images=[red], duration=200, lossless=True)
    save("moves.png", save_all=True, append_images=[red], duration=200)
    save("hiddenfirst.png", save_all=True, append_images=[red], duration=200, default_image=True)
    save("pages.tiff", save_all=True, append_images=[red])
    save("plain.avif", quality=90)
    save("turned.avif", quality=90, exif=exif)
    save("rgb.jpg", quality=95, keep_rgb=True)
    # Two Exif blocks: the camera's, and one of an editor that says upright.
    camera = io.BytesIO()
    picture.save(camera, "JPEG", exif=exif, quality=95)
    upright = b"Exif\0\0II*\0\x08\0\0\0" + struct.pack("<HHHIHHI", 1, 0x112, 3, 1, 1, 0, 0)
    at = camera.getvalue().find(b"\xff\xdb")
    (OUT / "twoexif.jpg").write_bytes(camera.getvalue()[:at] + b"\xff\xe1" + struct.pack(">H", len(upright) + 2) + upright + camera.getvalue()[at:])
    large = picture.resize((12000, 9000), Image.Resampling.NEAREST)  # as phones write
    large.save(OUT / "big108.png", compress_level=1)
    large.save(OUT / "big108.jpg", progressive=True, quality=50)
    picture.resize((16320, 12240), Image.Resampling.NEAREST).save(OUT / "big200.jpg", quality=50)
    for sampling in ("440", "411"):
        ffmpeg("-f", "image2pipe", "-i", "-", "-pix_fmt", f"yuvj{sampling}p", "-q:v", "2", "-strict", "-1", OUT / f"s{sampling}.jpg", data=ppm(quarters()))
    save("jfif.mpo", format="MPO", save_all=True, append_images=[red], quality=95)
    save("restart.jpg", quality=95, restart_marker_blocks=2)
    save("subsampled.jpg", quality=95, subsampling="4:2:0")
    Image.new("RGB", (8000, 10), COLOURS["B"]).save(OUT / "ribbon.png")
    save("icon.ico", sizes=[(64, 64)])
    picture.quantize(4).save(OUT / "two-bits.png", bits=2)
    picture.convert("RGBA").save(OUT / "v5.bmp")
    Image.fromarray(quarters(64, 64)).convert("1", dither=Image.Dither.NONE).save(OUT / "one-bit.bmp")
    save("interlaced.gif", interlace=True)
    clear = picture.quantize(16)
    clear.save(OUT / "transparent.gif", transparency=clear.getpixel((0, 0)))
    # A PNG of seven passes, whole and cut within its pixels; rows of 8-bit RGB without a filter.
    pixels = quarters()
    passes = [(0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2), (0, 1, 1, 2)]
    rows = b"".join(b"\0" + pixels[y, x0::dx].tobytes() for x0, y0, dx, dy in passes for y in range(y0, 128, dy))
    interlaced = png(256, 128, bytes((8, 2, 0, 0, 1)), rows)
    (OUT / "passes.png").write_bytes(interlaced)
    (OUT / "passes-cut.png").write_bytes(interlaced[: len(interlaced) // 2])
    deep = np.dstack([np.repeat(pixels.astype(np.uint16) * 257, 1, axis=0)]).astype(">u2")
    (OUT / "forty-eight.png").write_bytes(png(256, 128, bytes((16, 2, 0, 0, 0)), b"".join(b"\0" + row.tobytes() for row in deep)))
    key = struct.pack(">HHH", *COLOURS["R"])
    (OUT / "keyed.png").write_bytes(png(256, 128, bytes((8, 2, 0, 0, 0)), b"".join(b"\0" + row.tobytes() for row in pixels), png_chunk(b"tRNS", key)))
    whole = io.BytesIO()
    picture.save(whole, "JPEG", quality=95)
    jpeg = whole.getvalue()
    (OUT / "cut.jpg").write_bytes(jpeg[: len(jpeg) * 6 // 10])
    (OUT / "twice.jpg").write_bytes(jpeg + jpeg)
    (OUT / "before.jpg").write_bytes(b"\n\n" + jpeg)
    (OUT / "named.png").write_bytes(jpeg)  # a JPEG under another name
    subprocess.run(["cjpeg", "-arithmetic", "-outfile", OUT / "arithmetic.jpg"], input=ppm(pixels), check=False) if has("cjpeg") else None


def has(program: str) -> bool:
    return subprocess.run(["which", program], capture_output=True).returncode == 0


def ppm(pixels: np.ndarray) -> bytes:
    return f"P6 {pixels.shape[1]} {pixels.shape[0]} 255\n".encode() + pixels.tobytes()


TIMES = ("00:00:01,050 --> 00:00:02,000", "00:00:04,050 --> 00:00:05,000")


def srt(*texts: str) -> str:
    return "".join(f"{i + 1}\n{times}\n{text}\n\n" for i, (times, text) in enumerate(zip(TIMES, texts)))


ASS = """[Script Info]
ScriptType: v4.00{plus}

[V4{plus} Styles]
Format: Name, Fontname, Fontsize
Style: Default,Arial,20

[Events]
Format: {first}, Start, End, Style, Name, MarginL, MarginR, MarginV, Effect, Text
Comment: 0,0:00:01.05,0:00:02.00,Default,,0,0,0,,not said
Dialogue: {value},0:00:01.05,0:00:02.00,Default,,0,0,0,,{{\\kf20}}Good {{\\ko30}}morning{{\\r}}, {{a note}}all
Dialogue: {value},0:00:04.05,0:00:05.00,Default,,0,0,0,,first\\Nsecond\\hhalf
"""


def make_subtitles() -> None:
    write = lambda name, data: (OUT / name).write_bytes(data)  # noqa: E731
    write("koi8.srt", srt("Первая строка субтитров", "Вторая строка").encode("koi8-r"))
    write("euckr.srt", srt("첫 번째 자막 줄", "두 번째 자막").encode("euc-kr"))
    write("big5.srt", srt("第一行字幕在這裡", "第二行字幕").encode("big5"))
    write("utf16be-bom.srt", b"\xfe\xff" + srt("Première ligne", "Deuxième ligne").encode("utf-16-be"))
    write("utf16le-bare.srt", srt("First line of it", "Second line of it").encode("utf-16-le"))
    write("bom-twice.srt", b"\xef\xbb\xbf\xef\xbb\xbf" + srt("First line", "Second line").encode())
    write("cr.vtt", ("WEBVTT\r\r" + "\r\r".join(f"{times.replace(',', '.')}\r{text}" for times, text in zip(TIMES, ("First line", "Second line"))) + "\r").encode())
    write("headless.vtt", ("WEBVTT\n" + "\n\n".join(f"{times.replace(',', '.')}\n{text}" for times, text in zip(TIMES, ("First line", "Second line")))).encode())
    write("plain.ssa", ASS.format(plus="", first="Marked", value="Marked=0").encode())
    write("karaoke.ass", ASS.format(plus="+", first="Layer", value="0").encode())
    write("overlap.srt", "1\n00:00:01,050 --> 00:00:06,000\nThe long one\n\n2\n00:00:02,050 --> 00:00:03,000\nThe short one\n\n3\n00:00:01,050 --> 00:00:02,000\nAt the same time\n".encode())  # fmt: skip
    write("entities.srt", srt("Tom &amp; Jerry &lt;3 &quot;cheese&quot;", "caf&#233; &nbsp;&hellip; R&D; AT&T").encode())
    write("hours.srt", "1\n00:00:01,050 --> 00:00:02,000\nFirst line\n\n2\n100:00:04,050 --> 100:00:05,000\nfar away\n".encode())
    write("spaces.srt", "1\n00:00:01, 050 --> 00:00:02, 000\nFirst line\n\n2\n00:00:04 ,050 --> 00:00:05 ,000\nSecond line\n".encode())
    write("arrow.srt", "1\n00:00:01,050 -> 00:00:02,000\nFirst line\n\n2\n00:00:04,050 –> 00:00:05,000\nSecond line\n".encode())
    write("backwards.srt", "1\n00:00:04,050 --> 00:00:05,000\nSecond line\n\n2\n00:00:01,050 --> 00:00:02,000\nFirst line\n".encode())
    write("numbers.srt", srt("42", "7\n11").encode())
    said = ("No, I will not.", "No, I will not.", "No, I will not. Go away.")
    write("repeat.srt", "".join(f"{i + 1}\n00:00:0{i + 1},050 --> 00:00:0{i + 2},000\n{text}\n\n" for i, text in enumerate(said)).encode())
    write("sign.srt", srt("A sign", "Another sign").encode())
    ffmpeg("-i", OUT / "plain.mp4", "-i", OUT / "sign.srt", "-i", OUT / "backwards.srt", "-map", "0:v", "-map", "1", "-map", "2", "-c:v", "copy", "-c:s", "srt",
           "-disposition:s:0", "default+forced", "-disposition:s:1", "0", OUT / "forced.mkv")  # fmt: skip
    for name, subtitles, codec in (("ass.mkv", "karaoke.ass", "ass"), ("vtt.mkv", "backwards.srt", "webvtt"), ("srt.mkv", "entities.srt", "srt"), ("vtt.webm", "backwards.srt", "webvtt")):
        video = "plain.mp4" if name.endswith("mkv") else "whole.webm"
        ffmpeg("-i", OUT / video, "-i", OUT / subtitles, "-map", "0:v", "-map", "1", "-c:v", "copy", "-c:s", codec, OUT / name)


RUSSIAN = "Начальника порта зовут Марта, а код ворот 4711.\n"
TEXTS = {
    "koi8.txt": (RUSSIAN, "koi8-r"),
    "cp866.txt": (RUSSIAN, "cp866"),
    "mac-ru.txt": (RUSSIAN, "mac_cyrillic"),
    "big5.txt": ("港口主任叫林美華，大門的密碼是4711。\n", "big5"),
    "euckr.txt": ("항구 책임자의 이름은 마르타이고 문의 암호는 4711입니다.\n", "euc-kr"),
    "eucjp.txt": ("港の主任は林さんで、門の番号は4711です。\n", "euc_jp"),
    "iso2022jp.txt": ("港の主任は林さんで、門の番号は4711です。\n", "iso2022_jp"),
    "greek.txt": ("Ο λιμενάρχης λέγεται Μάρθα και ο κωδικός είναι 4711.\n", "cp1253"),
    "hebrew.txt": ("שם מנהלת הנמל הוא מרתה והקוד של השער הוא 4711.\n", "cp1255"),
    "arabic.txt": ("اسم مديرة الميناء مارثا ورمز البوابة هو 4711.\n", "cp1256"),
    "thai.txt": ("ผู้จัดการท่าเรือชื่อมาร์ธาและรหัสประตูคือ 4711\n", "cp874"),
    "turkish.txt": ("Liman müdürünün adı Marta ve kapının şifresi 4711, çünkü öğle güneşi ışıldıyor.\n", "cp1254"),
    "polish.txt": ("Kierowniczka portu nazywa się Łucja, a kod do bramy to 4711. Proszę zażółcić gęślą jaźń.\n", "iso8859-2"),
    "utf16le-bare.txt": ("The harbour master is called Marta.\nÄrger über Öl.\n", "utf-16-le"),
    "utf32le.txt": ("The harbour master is called Marta.\nЖук.\n", "utf-32"),
    "utf32be-bare.txt": ("The harbour master is called Marta.\nЖук.\n", "utf-32-be"),
}


def make_texts() -> None:
    for name, (text, encoding) in TEXTS.items():
        (OUT / name).write_bytes(text.encode(encoding))
    western = "Die Hafenmeisterin heißt Märta, der Code für das Tor ist 4711. Fräulein Müller wohnt über der Straße.\n"
    (OUT / "western-bad.txt").write_bytes(western.encode("cp1252").replace(b"4711", b"47\x8111"))
    (OUT / "utf8-bad.txt").write_bytes(western.encode().replace(b"4711", b"47\xff11"))
    (OUT / "utf16-odd.txt").write_bytes(b"\xff\xfe" + western.encode("utf-16-le") + b"x")
    (OUT / "bom-twice.txt").write_bytes(b"\xef\xbb\xbf\xef\xbb\xbf" + western.encode())
    (OUT / "line-ends.txt").write_bytes("one\r\ntwo\rthree\nfour\u2028five\u0085six\n".encode())
    (OUT / "page.html").write_bytes(b"<html><body><p>The harbour master is called Marta.</p></body></html>\n")
    (OUT / "notes.rtf").write_bytes(b"{\\rtf1\\ansi The harbour master is called Marta.}\n")
    (OUT / "paper.pdf").write_bytes(b"%PDF-1.4\n1 0 obj\n<< /Type /Catalog >>\nendobj\ntrailer\n<< /Root 1 0 R >>\n%%EOF\n")


if __name__ == "__main__":
    OUT.mkdir(parents=True, exist_ok=True)
    for make in (make_clocks, make_shapes, make_pictures, make_subtitles, make_texts):
        try:
            make()
        except Exception as exception:  # a maker that lacks an encoder leaves its files out
            print(make.__name__, "stopped:", exception)
    print(len(list(OUT.iterdir())), "files;", "large:", [path.name for path in OUT.iterdir() if path.stat().st_size > 300_000])
