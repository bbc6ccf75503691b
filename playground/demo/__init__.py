"""The demo: a real LangBot, the packaged plugin, a scripted conversation, a transcript.

==============  =========================================================
module          holds
==============  =========================================================
``scenario``    what is said where by whom, and what each turn proves
``evidence``    what a turn left behind, and conditions on it
``brains``      what answers: the offline agent or a real chat model
``stage``       the host with everything around it
``transcript``  the text for whoever watches or reads it later
``__main__``    ``python -m playground.demo``
==============  =========================================================
"""
